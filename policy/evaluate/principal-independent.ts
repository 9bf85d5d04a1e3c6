import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { childrenOf, formOf } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';

/** Context attributes that are the same for everyone who signs in to one Client with one method. */
const sharedAttributes = new Set([
  'client',
  'method',
  'methods',
  'assurance',
  'acrRequested',
  'scopesRequested',
]);

/** Returns whether a rule depends neither on the principal nor on the time. */
export const isPrincipalIndependent = ({ principal, conditions }: Rule): boolean =>
  (principal.op === 'All' || (principal.op === 'is' && !('in' in principal && principal.in))) &&
  conditions.every(ignoresPrincipal);

function ignoresPrincipal(expression: Expr): boolean {
  const [form, body] = formOf(expression);
  if (form === 'Var') return body === 'resource' || body === 'action';
  const isContextAttribute =
    (form === '.' || form === 'has') && 'Var' in body.left && body.left.Var === 'context';
  if (isContextAttribute) {
    return [body.attr].flat().every((attribute: string) => sharedAttributes.has(attribute));
  }
  return childrenOf(expression).every(ignoresPrincipal);
}
