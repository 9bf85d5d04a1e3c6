import type { Expr } from '@cedar-policy/cedar-wasm/nodejs';

/** Returns the form of an expression, which is its only key, and its body. */
export const formOf = (expression: Expr): [form: string, body: any] =>
  Object.entries(expression)[0]!;

type Transform = (expression: Expr) => Expr;

/** Forms with named operands. */
const childNames: Readonly<Record<string, readonly string[]>> = {
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

/** Returns the direct subexpressions of an expression. */
export function childrenOf(expression: Expr): Expr[] {
  const [form, body] = formOf(expression);
  if (leaves.has(form)) return [];
  if (form === 'Record') return Object.values(body as Record<string, Expr>);
  const names = childNames[form];
  return names
    ? names.flatMap((name) => (body[name] === undefined ? [] : [body[name] as Expr]))
    : (body as Expr[]);
}

/** Returns a copy of an expression with each direct subexpression transformed. */
export function mapChildren(expression: Expr, transform: Transform): Expr {
  const [form, body] = formOf(expression);
  if (leaves.has(form)) return expression;
  if (form === 'Record') {
    return {
      Record: Object.fromEntries(
        Object.entries(body as Record<string, Expr>).map(([name, child]) => [
          name,
          transform(child),
        ]),
      ),
    };
  }
  const names = childNames[form];
  if (!names) return { [form]: (body as Expr[]).map(transform) } as Expr;
  const parts = names
    .filter((name) => body[name] !== undefined)
    .map((name) => [name, transform(body[name])]);
  return { [form]: { ...body, ...Object.fromEntries(parts) } } as Expr;
}

/** Returns the number of levels of an expression. */
export const depthOf = (expression: Expr): number =>
  1 + Math.max(0, ...childrenOf(expression).map(depthOf));

/** Rewrites long chains of && or || as balanced trees: same order and outcome, much less depth. */
export function balance(expression: Expr): Expr {
  const [form] = formOf(expression);
  return form === '&&' || form === '||'
    ? join(form, operands(form, expression).map(balance))
    : mapChildren(expression, balance);
}

/** Returns the operands of a conjunction, in order. */
export const conjuncts = (expression: Expr): Expr[] => operands('&&', expression);

const operands = (form: string, expression: Expr): Expr[] => {
  const [ownForm, body] = formOf(expression);
  return ownForm === form
    ? [...operands(form, body.left), ...operands(form, body.right)]
    : [expression];
};

/** Joins expressions into one. */
export function join(form: '&&' | '||', parts: readonly Expr[]): Expr {
  if (parts.length === 0) return { Value: form === '&&' };
  if (parts.length === 1) return parts[0]!;
  const middle = parts.length >> 1;
  return {
    [form]: {
      left: join(form, parts.slice(0, middle)),
      right: join(form, parts.slice(middle)),
    },
  } as Expr;
}

/**
 * Adds the context attributes that an expression reads, and the strings that it tests a set for.
 */
export function addMentions(expression: Expr, mentions: Set<string>): void {
  const [form, body] = formOf(expression);
  if (form === 'contains' && typeof body.right.Value === 'string') mentions.add(body.right.Value);
  if (form === '.' && 'Var' in body.left && body.left.Var === 'context') mentions.add(body.attr);
  for (const child of childrenOf(expression)) addMentions(child, mentions);
}
