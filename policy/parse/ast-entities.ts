import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';

export type Entity = { readonly type: string; readonly id: string };

/** Whether an expression is plainly who asks or on what. */
export const subjectOf = (expression: Expr): 'principal' | 'resource' | undefined =>
  'Var' in expression && (expression.Var === 'principal' || expression.Var === 'resource')
    ? expression.Var
    : undefined;

/** The entities an expression names, alone or in a set; undefined where it is anything else. */
export function entitiesOf(expression: Expr): Entity[] | undefined {
  if ('Set' in expression) {
    const all = (expression.Set as Expr[]).map(entitiesOf);
    return all.every((one) => one !== undefined) ? all.flat() : undefined;
  }
  const entity =
    'Value' in expression && typeof expression.Value === 'object' && expression.Value !== null
      ? (expression.Value as { __entity?: Entity }).__entity
      : undefined;
  return entity && [entity];
}
