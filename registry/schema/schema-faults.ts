import {
  forbiddenField,
  invalidType,
  invalidValue,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from '../status/field-errors.js';
import type { Cause } from '../status/status.js';
import { patternDescription } from './pattern.js';

/** An error of the JSON Schema validator. */
interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The schema with the keyword. */
  readonly parentSchema?: unknown;
}

/** A union whose branches a field with a constant discriminates. */
interface Union {
  readonly oneOf: readonly {
    readonly properties: Readonly<Record<string, { readonly const: unknown }>>;
  }[];
}

/** The maximum number of causes in a response. */
const maxCauses = 32;

/**
 * Returns causes for validation errors, the first of each field, with paths below `at`. For a
 * union, the choice of types.
 */
export function causesOf(errors: readonly SchemaFault[], at: string): Cause[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf');
  const relevant = errors.filter(
    ({ schemaPath, keyword }) =>
      keyword === 'anyOf' ||
      !choices.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`)),
  );
  const causes = new Map<string, Cause>();
  for (const error of relevant) {
    const cause = error.keyword === 'anyOf' ? choiceCause(error, errors, at) : causeOf(error, at);
    if (!causes.has(cause.field!)) causes.set(cause.field!, cause);
    if (causes.size === maxCauses) break; // A body may have thousands of faults.
  }
  return [...causes.values()];
}

const pathOf = (at: string, pointer: string): string =>
  at +
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) || /[./]/.test(part) ? `[${part}]` : `.${part}`))
    .join('');

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const typeWords = (type: unknown): string =>
  [type]
    .flat()
    .map((name) => types[String(name)] ?? String(name))
    .join(' or ');

const formats: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2030-01-31T12:00:00Z',
};

function choiceCause(choice: SchemaFault, errors: readonly SchemaFault[], at: string): Cause {
  const typeErrors = errors.filter(
    ({ keyword, instancePath, schemaPath }) =>
      keyword === 'type' &&
      instancePath === choice.instancePath &&
      schemaPath.startsWith(`${choice.schemaPath}/`),
  );
  const words = typeErrors
    .map(({ params }) => typeWords((params as { type: unknown }).type))
    .join(', or ');
  return invalidType(pathOf(at, choice.instancePath), `must be ${words || 'of another form'}`);
}

const quoted = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(', ');

/** Returns the cause of one error; it never contains the value, which may be a secret. */
function causeOf(fault: SchemaFault, at: string): Cause {
  const field = pathOf(at, fault.instancePath);
  return memberCause(fault, field) ?? valueCause(fault, field);
}

/** Returns the cause of an unknown or missing member; undefined for other errors. */
function memberCause(fault: SchemaFault, field: string): Cause | undefined {
  const { keyword, params } = fault;
  switch (keyword) {
    case 'required':
      return requiredValue(`${field}.${params.missingProperty}`);
    case 'discriminator':
      return params.tagValue === undefined
        ? requiredValue(`${field}.${params.tag}`)
        : notSupported(`${field}.${params.tag}`, tagsOf(fault));
    case 'additionalProperties':
      return forbiddenField(`${field}.${params.additionalProperty}`, 'unknown field');
    default:
      return undefined;
  }
}

function valueCause(fault: SchemaFault, field: string): Cause {
  const { keyword, params } = fault;
  switch (keyword) {
    case 'enum':
      return notSupported(field, params.allowedValues as unknown[]);
    case 'const':
      return notSupported(field, [params.allowedValue]);
    case 'type':
      return invalidType(field, `must be ${typeWords(params.type)}`);
    case 'maxLength':
      return tooLongValue(field, `may not be more than ${Number(params.limit)} characters`);
    case 'maxItems':
      return tooManyItems(field, `must have at most ${Number(params.limit)} items`);
    default:
      return invalidValue(field, requirementOf(fault));
  }
}

/** Returns the values that discriminate the branches of a union. */
const tagsOf = ({ params, parentSchema }: SchemaFault): unknown[] =>
  (parentSchema as Union).oneOf.map(({ properties }) => properties[String(params.tag)]!.const);

const notSupported = (field: string, supported: readonly unknown[]): Cause =>
  unsupportedValue(field, `supported values: ${quoted(supported)}`);

/** Returns what a value must be, in words. */
function requirementOf({ keyword, params }: SchemaFault): string {
  const limit = Number(params.limit);
  switch (keyword) {
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'pattern':
      return patternDescription(String(params.pattern)) ?? 'must be of another form';
    case 'format':
      return `must be ${formats[String(params.format)] ?? `of the form ${params.format}`}`;
    case 'propertyNames':
      return 'has a key of another form';
    default:
      return 'must be of another form';
  }
}
