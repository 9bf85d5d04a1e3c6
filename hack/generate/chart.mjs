import { settingKey } from '../../dist/cmd/vestibule/options/flags.js';
import { limitsSchema } from '../../dist/cmd/vestibule/options/json-schema.js';

/** The schemas of values, by the name that "@is" gives. */
const shapes = {
  strings: { type: 'array', items: { type: 'string' } },
  'strings by name': { type: 'object', additionalProperties: { type: 'string' } },
  object: { type: 'object' },
  objects: { type: 'array', items: { type: 'object' } },
  port: { type: 'integer', minimum: 1, maximum: 65535 },
  quantity: { $ref: '#/definitions/quantity' },
  probe: { $ref: '#/definitions/probe' },
};

/** Numbers that a value may have, by name, and the least of each. */
const numbers = (least) =>
  Object.fromEntries(
    Object.entries(least).map(([name, minimum]) => [name, { type: 'integer', minimum }]),
  );

const definitions = {
  quantity: {
    type: ['string', 'integer'],
    pattern: '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$',
  },
  quantities: { type: 'object', additionalProperties: { $ref: '#/definitions/quantity' } },
  probe: {
    type: 'object',
    additionalProperties: false,
    properties: numbers({
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 1,
      failureThreshold: 1,
    }),
  },
};

/** Settings that have values of their own in the chart, so that nothing is configured twice. */
export const spokenFor = [
  'base-url',
  'port',
  'secure-port',
  'tls-cert-file',
  'tls-private-key-file',
  'authentication-skip-lookup',
  'requestheader-client-ca-file',
  'requestheader-allowed-names',
  'requestheader-username-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
  'requestheader-uid-headers',
  'data-dir',
  'etcd-servers',
  'etcd-prefix',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
  'etcd-username',
  'etcd-password',
  'manifests',
  'smtp-url',
  'mock-mail',
  'allow-mock-mail',
  'email-from',
  'keys-file',
  'metrics-port',
];

const settingShapes = {
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  list: shapes.strings,
  seconds: { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)?$' },
};

/** Returns the settings allowed under `config`, with their keys in the configuration file. */
const given = (settings) =>
  settings
    .filter(({ flag }) => !spokenFor.includes(flag))
    .map((setting) => ({ ...setting, name: settingKey(setting.flag) }));

/**
 * Returns the values of a chart in the order of the file: path, comment, the name after "@is",
 * default. Throws if a value has no comment or its default alone does not describe it.
 */
export function valuesOf(text, parse) {
  const defaults = parse(text);
  const found = [];
  const within = []; // the keys above the current line
  let comment = [];
  let closed = -1; // the depth of a value that is described as a whole
  for (const line of text.split('\n')) {
    const [, spaces, rest] = /^( *)(.*)$/.exec(line);
    if (rest === '') {
      comment = [];
      continue;
    }
    if (rest.startsWith('#')) {
      comment.push(rest.slice(1).trim());
      continue;
    }
    const depth = spaces.length / 2;
    if (closed >= 0 && depth > closed) continue;
    closed = -1;
    const [, key] = /^([A-Za-z0-9]+):/.exec(rest) ?? [];
    if (key === undefined) throw new Error(`values.yaml: ${rest} is no key`);
    within.length = depth;
    within.push(key);
    const path = within.join('.');
    const said = comment.filter((one) => !one.startsWith('@')).join(' ');
    const is = comment.find((one) => one.startsWith('@is '))?.slice(4);
    const isSettings = comment.includes('@settings');
    comment = [];
    const fallback = within.reduce((value, name) => value[name], defaults);
    const isTree =
      is === undefined &&
      typeof fallback === 'object' &&
      fallback !== null &&
      !Array.isArray(fallback) &&
      Object.keys(fallback).length > 0;
    if (!said.endsWith('.')) {
      throw new Error(`values.yaml: ${path} has no comment that is a sentence`);
    }
    if (is === undefined && !isTree && !['string', 'number', 'boolean'].includes(typeof fallback)) {
      throw new Error(`values.yaml: ${path} needs "@is"`);
    }
    if (!isTree) closed = depth;
    found.push({
      path: [...within],
      said,
      fallback,
      isTree,
      isSettings,
      shape: isTree ? undefined : shapeOf(is, fallback, path),
    });
  }
  return found;
}

function shapeOf(is, fallback, path) {
  if (is === undefined) return { type: typeof fallback };
  if (Object.hasOwn(shapes, is)) return shapes[is];
  try {
    return JSON.parse(is);
  } catch {
    throw new Error(`values.yaml: ${path}: "@is ${is}" is neither known nor JSON`);
  }
}

/**
 * Returns the JSON schema (draft-07) of the values. Objects allow no other keys unless they are
 * maps.
 */
export function valuesSchema(values, settings) {
  const root = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values',
    type: 'object',
    additionalProperties: false,
    properties: {},
    definitions,
  };
  for (const { path, said, fallback, isTree, isSettings, shape } of values) {
    const parent = path.slice(0, -1).reduce((schema, name) => schema.properties[name], root);
    const own = isTree
      ? { type: 'object', additionalProperties: false, properties: {} }
      : { ...shape, ...(fallback !== null && { default: fallback }) };
    const schema = own.$ref
      ? { description: said, allOf: [{ $ref: own.$ref }], default: own.default }
      : { description: said, ...own };
    if (isSettings) schema.properties.limits = limitsSchema();
    if (isSettings) {
      for (const { name, value, oneOf, describe } of given(settings).filter(
        ({ limit }) => limit === undefined,
      )) {
        schema.properties[name] = {
          description: describe,
          ...settingShapes[value],
          ...(oneOf && { enum: ['', ...oneOf] }),
        };
      }
    }
    if (path[0] === 'config' && path.length === 2) {
      if (!given(settings).some(({ name }) => name === path[1])) {
        throw new Error(`values.yaml: config.${path[1]} is no setting`);
      }
      Object.assign(parent.properties[path[1]], { description: said, default: fallback });
    } else {
      parent.properties[path.at(-1)] = schema;
    }
  }
  return root;
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const typeOf = ({ type, enum: options, $ref }) => {
  if (options) return options.filter(Boolean).join(', ');
  if ($ref) return $ref === shapes.quantity.$ref ? 'quantity' : 'object';
  return [type]
    .flat()
    .filter((one) => one !== 'null')
    .join(' or ');
};
const settingType = ({ value, oneOf }) => {
  if (oneOf) return oneOf.join(', ');
  return { list: 'array', seconds: 'string', text: 'string' }[value] ?? value;
};
const shown = (value) =>
  value === undefined || value === null || value === '' ? '' : `\`${cell(JSON.stringify(value))}\``;

/** Returns the README of the chart: the text in `about`, then all values. */
export function chartReadme(about, values, settings) {
  const own = values
    .filter(({ isTree }) => !isTree)
    .map(({ path, said, fallback, shape }) => [path.join('.'), typeOf(shape), fallback, said]);
  const rest = given(settings)
    .filter(({ name }) => !values.some(({ path }) => path.join('.') === `config.${name}`))
    .map((setting) => [
      `config.${setting.name}`,
      settingType(setting),
      setting.default,
      setting.describe,
    ]);
  const at = own.findLastIndex(([path]) => path.startsWith('config.')) + 1;
  const rows = [...own.slice(0, at), ...rest, ...own.slice(at)].map(
    ([path, type, fallback, said]) =>
      `| \`${path}\` | ${type} | ${shown(fallback)} | ${cell(said)} |`,
  );
  return `<!-- Written by hack/gen of values.yaml and hack/generate/chart.md. Do not edit. -->\n${about.trim()}\n\n## Values\n\n| Value | Type | Default | What |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}
