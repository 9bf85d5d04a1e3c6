import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { formOf, within } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';

/** What of the context is the same for everybody who signs in to one Client in one way. */
const common = new Set(['client', 'method', 'methods', 'assurance']);

/**
 * Whether a rule holds for everybody or no one who does the same in the same way: it looks neither
 * at who that is nor at the time.
 */
export const isPrincipalIndependent = ({ principal, conditions }: Rule): boolean =>
  (principal.op === 'All' || (principal.op === 'is' && !('in' in principal && principal.in))) &&
  conditions.every(looksAtNobody);

function looksAtNobody(expression: Expr): boolean {
  const [form, body] = formOf(expression);
  if (form === 'Var') return body === 'resource' || body === 'action';
  const ofContext =
    (form === '.' || form === 'has') && 'Var' in body.left && body.left.Var === 'context';
  if (ofContext) return [body.attr].flat().every((attribute: string) => common.has(attribute));
  return within(expression).every(looksAtNobody);
}
