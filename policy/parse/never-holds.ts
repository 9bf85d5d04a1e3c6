import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';
import { findContextAttribute } from '../model/context-attributes.js';
import { entityAttributes } from '../model/entity-attributes.js';
import { childrenOf, formOf } from './ast.js';
import type { Rule } from './rules.js';

/** Forms that compare a fact, or the members of a set, with texts. */
const comparisons = new Set(['==', '!=', 'contains', 'containsAll', 'containsAny']);

/**
 * Returns why comparisons of a rule never hold: the fact cannot have that value, as a weekday is
 * never `Mon`. The rule is valid, and may be meant so.
 */
export const neverHolds = ({ conditions }: Rule): string[] => [
  ...new Set(conditions.flatMap(faultsIn)),
];

function faultsIn(expression: Expr): string[] {
  const [form, body] = formOf(expression);
  const own = comparisons.has(form)
    ? [...compare(body.left, body.right), ...compare(body.right, body.left)]
    : [];
  return [...own, ...childrenOf(expression).flatMap(faultsIn)];
}

function compare(fact: Expr, literal: Expr): string[] {
  const [form, body] = formOf(fact);
  if (form !== '.') return [];
  const values = valuesOf(body.left, body.attr);
  return values
    ? textsIn(literal)
        .filter((text) => !values.includes(text))
        .map(
          (text) => `${body.attr} is never ${quote(text)}: it is ${values.map(quote).join(', ')}`,
        )
    : [];
}

/** Returns the values of an attribute that has a fixed number of them, of any entity type. */
function valuesOf(side: Expr, name: string): readonly string[] | undefined {
  if ('Var' in side && side.Var === 'context') return findContextAttribute(name)?.values;
  const [type] = Object.values(entityAttributes).filter((entityAttribute) =>
    Object.hasOwn(entityAttribute, name),
  );
  return type?.[name]?.values;
}

const textsIn = (expression: Expr): string[] => {
  if ('Set' in expression) return expression.Set.flatMap(textsIn);
  return 'Value' in expression && typeof expression.Value === 'string' ? [expression.Value] : [];
};

const quote = (text: string): string => JSON.stringify(text);
