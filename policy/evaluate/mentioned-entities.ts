import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { entityAttributeNames } from '../model/entity-attributes.js';
import { childrenOf, formOf } from '../parse/ast.js';
import type { Rule } from '../parse/rules.js';

/**
 * Returns whether a rule may mention a fact about an entity: an attribute, or the groups of another
 * than the principal. Rules that cannot need nothing to be loaded.
 */
export const mayMentionEntity = ({ resource, conditions }: Rule): boolean =>
  resource.op === 'in' ||
  (resource.op === 'is' && 'in' in resource && resource.in !== undefined) ||
  conditions.some(mentionsFact);

function mentionsFact(expression: Expr): boolean {
  const [form, body] = formOf(expression);
  const isFact =
    form === '.' && entityAttributeNames.has(body.attr) && !isVar(body.left, 'context');
  const isMembership = form === 'in' || (form === 'is' && body.in !== undefined);
  const isOfOther = isMembership && !isVar(body.left, 'principal') && !isVar(body.left, 'action');
  return isFact || isOfOther || childrenOf(expression).some(mentionsFact);
}

const isVar = (expression: Expr, name: string): boolean =>
  'Var' in expression && expression.Var === name;
