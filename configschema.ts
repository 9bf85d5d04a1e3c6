import { duration, keyOf, settings, type Setting } from './settings.js';

/** The JSON Schema (2020-12) of a file of settings: types, bounds, defaults and what each is for. What settings say together, or only a start can find out, it does not hold. */
export function configSchema(): object {
  const all: readonly Setting[] = settings;
  const secrets = all.filter(({ secret }) => secret).map(({ flag }) => keyOf(flag));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of vestibule serve', type: 'object', additionalProperties: false,
    properties: Object.fromEntries(all.flatMap((setting) => propertiesOf(setting))),
    dependentSchemas: Object.fromEntries(secrets.map((key) => [key, { properties: { [`${key}File`]: false } }])),
  };
}

function propertiesOf(setting: Setting): [string, object][] {
  const { flag, default: fallback, secret, describe: description } = setting;
  const key = keyOf(flag);
  const own: [string, object] = [key, { description, ...shapeOf(setting), ...(fallback !== undefined && { default: fallback }), ...(secret && { writeOnly: true }) }];
  return secret ? [own, [`${key}File`, { description: `File that holds ${key}, in its place.`, type: 'string' }]] : [own];
}

function shapeOf({ value, oneOf, wholeTo, positive }: Setting): object {
  const least = positive ? { exclusiveMinimum: 0 } : { minimum: 0 };
  switch (value) {
    case 'text': return { type: 'string', ...(oneOf && { enum: oneOf }) };
    case 'number': return wholeTo === undefined ? { type: 'number', ...least } : { type: 'integer', ...least, maximum: wholeTo };
    case 'boolean': return { type: 'boolean' };
    case 'seconds': return { anyOf: [{ type: 'string', pattern: duration.source, ...(positive && { not: { pattern: '^[0.]+[a-z]*$' } }) }, { type: 'number', ...least }] };
    case 'list': return { anyOf: [{ type: 'array', items: { type: 'string', minLength: 1 } }, { type: 'string' }] };
  }
}
