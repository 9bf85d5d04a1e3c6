import { ZodFirstPartyTypeKind as Kind, type z } from 'zod';

/** zod types whose conversion to JSON Schema is wrong, useless or empty. */
const unsupportedTypes = new Set<string>([
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
const zodTypes = new Set<string>(Object.values(Kind));
const lossyChecks = new Set(['trim', 'toLowerCase', 'toUpperCase', 'base64url']);

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

/** Throws with the path if a schema contains a construct that JSON Schema would silently lose. */
export function refuseUnconvertible(schema: z.ZodTypeAny, path: string): void {
  const definition = schema._def as Definition;
  if (!definition?.typeName) throw new Error(`${path}: not a schema of zod 3`);
  if (unsupportedTypes.has(definition.typeName) || !zodTypes.has(definition.typeName)) {
    throw new Error(`${path}: ${definition.typeName} cannot be expressed in JSON Schema`);
  }
  if (
    definition.typeName === Kind.ZodLiteral &&
    !['string', 'number', 'boolean'].includes(typeof definition.value)
  ) {
    throw new Error(`${path}: a literal must be text, a number or a boolean`);
  }
  for (const check of definition.typeName === Kind.ZodString ? (definition.checks ?? []) : []) {
    if (lossyChecks.has(check.kind)) {
      throw new Error(`${path}: ${check.kind}() is lost in JSON Schema`);
    }
    if (check.regex && check.regex.flags !== '') {
      throw new Error(`${path}: the flags of ${check.regex} are lost in JSON Schema`);
    }
    if (check.regex && !(check.regex.source.startsWith('^') && check.regex.source.endsWith('$'))) {
      throw new Error(`${path}: ${check.regex} is not anchored`);
    }
  }
  for (const [name, property] of Object.entries(definition.shape?.() ?? {})) {
    refuseUnconvertible(property, `${path}.${name}`);
  }
  const options =
    definition.options instanceof Map
      ? [...definition.options.values()]
      : (definition.options ?? []);
  options.forEach((option, i) => refuseUnconvertible(option, `${path}|${i}`));
  for (const inner of [definition.innerType, definition.type, definition.valueType]) {
    if (inner?._def) refuseUnconvertible(inner, path);
  }
}
