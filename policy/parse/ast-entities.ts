import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';

export type EntityUid = { readonly type: string; readonly id: string };

/**
 * Returns the variable that an expression is: principal, resource, or undefined for anything else.
 */
export const variableOf = (expression: Expr): 'principal' | 'resource' | undefined =>
  'Var' in expression && (expression.Var === 'principal' || expression.Var === 'resource')
    ? expression.Var
    : undefined;

/**
 * Returns the entity literals of an expression, single or in a set; undefined for anything else.
 */
export function entityLiterals(expression: Expr): EntityUid[] | undefined {
  if ('Set' in expression) {
    const literals = expression.Set.map(entityLiterals);
    return literals.every((entities) => entities !== undefined) ? literals.flat() : undefined;
  }
  const entity =
    'Value' in expression && typeof expression.Value === 'object' && expression.Value !== null
      ? (expression.Value as { __entity?: EntityUid }).__entity
      : undefined;
  return entity && [entity];
}
