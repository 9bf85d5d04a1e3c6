import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';

/**
 * An expression with its one key and what stands behind it; the key alone says which form it has.
 */
export const formOf = (expression: Expr): [form: string, body: any] =>
  Object.entries(expression)[0]!;

type Change = (one: Expr) => Expr;

/** Forms whose parts are values, named here by their members. */
const members: Readonly<Record<string, readonly string[]>> = {
  '!': ['arg'],
  neg: ['arg'],
  isEmpty: ['arg'],
  '.': ['left'],
  has: ['left'],
  like: ['left'],
  is: ['left', 'in'],
  'if-then-else': ['if', 'then', 'else'],
  ...Object.fromEntries(
    [
      '==',
      '!=',
      'in',
      '<',
      '<=',
      '>',
      '>=',
      '&&',
      '||',
      '+',
      '-',
      '*',
      'contains',
      'containsAll',
      'containsAny',
      'getTag',
      'hasTag',
    ].map((form) => [form, ['left', 'right']]),
  ),
};
const leaves = new Set(['Value', 'Var', 'Slot']);

/** The expressions directly within one. */
export function within(expression: Expr): Expr[] {
  const [form, body] = formOf(expression);
  if (leaves.has(form)) return [];
  if (form === 'Record') return Object.values(body as Record<string, Expr>);
  const names = members[form];
  return names
    ? names.flatMap((name) => (body[name] === undefined ? [] : [body[name] as Expr]))
    : (body as Expr[]);
}

/** The same expression with each of those directly within it changed. */
export function mapWithin(expression: Expr, change: Change): Expr {
  const [form, body] = formOf(expression);
  if (leaves.has(form)) return expression;
  if (form === 'Record')
    return {
      Record: Object.fromEntries(
        Object.entries(body as Record<string, Expr>).map(([name, one]) => [name, change(one)]),
      ),
    };
  const names = members[form];
  if (!names) return { [form]: (body as Expr[]).map(change) } as Expr;
  const parts = names
    .filter((name) => body[name] !== undefined)
    .map((name) => [name, change(body[name])]);
  return { [form]: { ...body, ...Object.fromEntries(parts) } } as Expr;
}

/** How many levels an expression has. */
export const depthOf = (expression: Expr): number =>
  1 + Math.max(0, ...within(expression).map(depthOf));

/**
 * A long chain of && or || as a tree: the same order and the same outcome, a fraction of the depth.
 */
export function balanced(expression: Expr): Expr {
  const [form] = formOf(expression);
  return form === '&&' || form === '||'
    ? joined(form, chain(form, expression).map(balanced))
    : mapWithin(expression, balanced);
}

/** The conditions that hold together where an expression does, in order. */
export const conjuncts = (expression: Expr): Expr[] => chain('&&', expression);

const chain = (form: string, expression: Expr): Expr[] => {
  const [own, body] = formOf(expression);
  return own === form ? [...chain(form, body.left), ...chain(form, body.right)] : [expression];
};

/** Several conditions as one. */
export function joined(form: '&&' | '||', parts: readonly Expr[]): Expr {
  if (parts.length === 0) return { Value: form === '&&' };
  if (parts.length === 1) return parts[0]!;
  const middle = parts.length >> 1;
  return {
    [form]: {
      left: joined(form, parts.slice(0, middle)),
      right: joined(form, parts.slice(middle)),
    },
  } as Expr;
}

/**
 * Adds the attributes of the context that an expression looks at, and the texts that one is said to
 * contain.
 */
export function addMentions(expression: Expr, to: Set<string>): void {
  const [form, body] = formOf(expression);
  if (form === 'contains' && typeof body.right.Value === 'string') to.add(body.right.Value);
  if (form === '.' && 'Var' in body.left && body.left.Var === 'context') to.add(body.attr);
  for (const one of within(expression)) addMentions(one, to);
}
