import { limitSettings } from '../../../kinds/limits/limit-settings.js';
import type { LimitSetting } from '../../../registry/limits/limit-settings.js';
import { durationText, percentText, sizeText } from '../../../registry/schema/units.js';
import { durationPattern, type Setting, settingKey, settings } from './flags.js';

/**
 * Returns the JSON Schema (2020-12) of a configuration file: types, bounds, defaults and
 * descriptions. It does not cover checks across settings, or those that need a start.
 */
export function configSchema(): object {
  const ownSettings = settings.filter(({ limit }) => limit === undefined);
  const secrets = ownSettings.filter(({ secret }) => secret).map(({ flag }) => settingKey(flag));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of vestibule serve',
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(ownSettings.flatMap((setting) => settingProperties(setting))),
      limits: limitsSchema(),
    },
    dependentSchemas: Object.fromEntries(
      secrets.map((key) => [key, { properties: { [`${key}File`]: false } }]),
    ),
  };
}

/** Returns the schema of the section of limits. */
export function limitsSchema(): object {
  const properties = settings.flatMap((setting) =>
    setting.limit === undefined
      ? []
      : [[setting.limit, limitSchema(setting, limitSettings[setting.limit])]],
  );
  return {
    description: 'Limits, lifetimes and budgets.',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

function limitSchema(
  { describe: description }: Setting,
  { value, default: fallback, min: minimum, max }: LimitSetting,
): object {
  const shared = { description, default: fallback };
  switch (value) {
    case 'count':
      return { ...shared, type: 'integer', minimum, maximum: max };
    case 'duration':
      return { ...shared, type: 'string', pattern: durationText.source };
    case 'size':
      return {
        ...shared,
        anyOf: [
          { type: 'string', pattern: sizeText.source },
          { type: 'integer', minimum: 0 },
        ],
      };
    case 'percent':
      return { ...shared, type: 'string', pattern: percentText.source };
  }
}

function settingProperties(setting: Setting): [string, object][] {
  const { flag, default: fallback, secret, describe: description } = setting;
  const key = settingKey(flag);
  const property: [string, object] = [
    key,
    {
      description,
      ...valueSchema(setting),
      ...(fallback !== undefined && { default: fallback }),
      ...(secret && { writeOnly: true }),
    },
  ];
  return secret
    ? [property, [`${key}File`, { description: `File with the value of ${key}.`, type: 'string' }]]
    : [property];
}

function valueSchema({ value, oneOf, maxInteger, isPositive }: Setting): object {
  const bound = isPositive ? { exclusiveMinimum: 0 } : { minimum: 0 };
  switch (value) {
    case 'text':
      return { type: 'string', ...(oneOf && { enum: oneOf }) };
    case 'number':
      return maxInteger === undefined
        ? { type: 'number', ...bound }
        : { type: 'integer', ...bound, maximum: maxInteger };
    case 'boolean':
      return { type: 'boolean' };
    case 'seconds':
      return {
        anyOf: [
          {
            type: 'string',
            pattern: durationPattern.source,
            ...(isPositive && { not: { pattern: '^[0.]+[a-z]*$' } }),
          },
          { type: 'number', ...bound },
        ],
      };
    case 'list':
      return {
        anyOf: [{ type: 'array', items: { type: 'string', minLength: 1 } }, { type: 'string' }],
      };
    default:
      throw new Error(`${value} is the unit of a limit`);
  }
}
