import { ZodFirstPartyTypeKind as Kind, type z } from 'zod';

/** zod types whose conversion to JSON Schema is wrong, useless or empty. */
const refused = new Set<string>([
  Kind.ZodEffects,
  Kind.ZodPipeline,
  Kind.ZodDate,
  Kind.ZodTuple,
  Kind.ZodMap,
  Kind.ZodSet,
  Kind.ZodBigInt,
  Kind.ZodIntersection,
  Kind.ZodAny,
  Kind.ZodUnknown,
  Kind.ZodFunction,
  Kind.ZodPromise,
  Kind.ZodLazy,
  Kind.ZodSymbol,
  Kind.ZodCatch,
  Kind.ZodBranded,
  Kind.ZodVoid,
  Kind.ZodNever,
  Kind.ZodUndefined,
  Kind.ZodNaN,
]);
const known = new Set<string>(Object.values(Kind));
const lossy = new Set(['trim', 'toLowerCase', 'toUpperCase', 'base64url']);

interface Definition {
  typeName?: string;
  checks?: { kind: string; regex?: RegExp }[];
  innerType?: z.ZodTypeAny;
  type?: z.ZodTypeAny;
  valueType?: z.ZodTypeAny;
  value?: unknown;
  keyType?: z.ZodTypeAny;
  options?: z.ZodTypeAny[] | Map<unknown, z.ZodTypeAny>;
  shape?: () => Record<string, z.ZodTypeAny>;
}

/** Throws, naming the path, where a schema holds what JSON Schema would lose without a word. */
export function refuseUnconvertible(schema: z.ZodTypeAny, where: string): void {
  const definition = schema._def as Definition;
  if (!definition?.typeName) throw new Error(`${where}: not a schema of zod 3`);
  if (refused.has(definition.typeName) || !known.has(definition.typeName))
    throw new Error(`${where}: ${definition.typeName} cannot be expressed in JSON Schema`);
  if (
    definition.typeName === Kind.ZodLiteral &&
    !['string', 'number', 'boolean'].includes(typeof definition.value)
  )
    throw new Error(`${where}: a literal must be text, a number or a boolean`);
  for (const check of definition.typeName === Kind.ZodString ? (definition.checks ?? []) : []) {
    if (lossy.has(check.kind)) throw new Error(`${where}: ${check.kind}() is lost in JSON Schema`);
    if (check.regex && check.regex.flags !== '')
      throw new Error(`${where}: the flags of ${check.regex} are lost in JSON Schema`);
    if (check.regex && !(check.regex.source.startsWith('^') && check.regex.source.endsWith('$')))
      throw new Error(`${where}: ${check.regex} is not anchored`);
  }
  for (const [name, property] of Object.entries(definition.shape?.() ?? {}))
    refuseUnconvertible(property, `${where}.${name}`);
  const options =
    definition.options instanceof Map
      ? [...definition.options.values()]
      : (definition.options ?? []);
  options.forEach((option, i) => refuseUnconvertible(option, `${where}|${i}`));
  for (const inner of [definition.innerType, definition.type, definition.valueType])
    if (inner?._def) refuseUnconvertible(inner, where);
}
