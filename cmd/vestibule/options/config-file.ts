import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  type YAMLMap,
} from 'yaml';
import { nearest } from '../../../registry/schema/nearest-name.js';
import { errorCode } from '../terminal/thrown.js';
import { type Setting, settingKey, settings } from './flags.js';
import { type GivenValue, readSecret, type Settings } from './sources.js';

/** The section of the limits. */
const section = 'limits';

/** The settings by key; secrets also as `…File`. */
const knownKeys = new Map(
  settings.flatMap((setting): [string, { setting: Setting; inFile: boolean }][] => {
    const key = settingKey(setting.flag);
    return [
      [key, { setting, inFile: false }],
      ...(setting.secret
        ? [
            [`${key}File`, { setting, inFile: true }] as [
              string,
              { setting: Setting; inFile: boolean },
            ],
          ]
        : []),
    ];
  }),
);

/** The settings read so far, with the file and its positions for problems. */
interface ConfigFileReader extends Settings {
  readonly path: string;
  /** Whether anyone on the machine may read the file. */
  readonly isWorldReadable: boolean;
  position(offset: number, key?: string): string;
}

/**
 * Reads a configuration file (YAML 1.2, one mapping). Each problem names line and column, and none
 * repeats a value.
 */
export function readConfigFile(path: string): Settings {
  const found: Settings = { given: {}, problems: [], invalid: new Set() };
  const spoil = (problem: string): Settings => {
    found.problems.push(problem);
    for (const { flag } of settings) found.invalid.add(flag);
    return found;
  };
  let file: { text: string; isOpen: boolean };
  try {
    file = readFile(path);
  } catch (error) {
    return spoil(`--config ${path}: cannot be read (${errorCode(error)})`);
  }
  const lineCounter = new LineCounter();
  const position = (offset: number, key?: string): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `--config ${path}: line ${line}, column ${col}${key === undefined ? '' : `: ${key}`}`;
  };
  const documents = parseAllDocuments(file.text, {
    schema: 'core',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  });
  const [fault] = [...documents].flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (fault) {
    return spoil(
      `${position(fault.pos[0])}: is not YAML: ${fault.code.toLowerCase().replaceAll('_', ' ')}`,
    );
  }
  const [first, second] = documents;
  if (second) {
    return spoil(`${position(second.range[0])}: must be the only YAML document of the file`);
  }
  const contents = first?.contents ?? null;
  if (contents === null || (isScalar(contents) && contents.value === null)) return found; // only comments
  if (!isMap(contents)) {
    return spoil(
      `${position(contents.range[0])}: is not a mapping; write settings as key: value, one a line`,
    );
  }
  if (contents.has('contexts')) {
    return spoil(
      `${position(contents.range[0])}: is the file of sign-ins, which belongs in VESTIBULE_CONTEXTS`,
    );
  }
  readSettings(contents as YAMLMap.Parsed, {
    ...found,
    path,
    isWorldReadable: file.isOpen,
    position,
  });
  return found;
}

function readFile(path: string): { text: string; isOpen: boolean } {
  const file = openSync(path, 'r');
  try {
    return { text: readFileSync(file, 'utf8'), isOpen: (fstatSync(file).mode & 0o007) !== 0 };
  } finally {
    closeSync(file);
  }
}

function readSettings(contents: YAMLMap.Parsed, reading: ConfigFileReader, keyPrefix = ''): void {
  const keysSeen = new Set<string>();
  for (const { key: keyNode, value: node } of contents.items) {
    const name = isScalar(keyNode) ? keyNode.value : undefined;
    const start = keyNode.range[0];
    if (typeof name !== 'string') {
      reading.problems.push(`${reading.position(start)}: a key is not text`);
      continue;
    }
    const key = keyPrefix + name;
    if (key === section && isMap(node) && !keysSeen.has(key)) {
      keysSeen.add(key);
      readSettings(node as YAMLMap.Parsed, reading, `${section}.`);
      continue;
    }
    const entry = knownKeys.get(key);
    const report = (problem: string, offset = start): void => {
      reading.problems.push(`${reading.position(offset, key)}: ${problem}`);
      if (entry) reading.invalid.add(entry.setting.flag);
    };
    if (keysSeen.has(key)) {
      report('is given twice');
      continue;
    }
    if (key === section) {
      report('must be a mapping; write limits as key: value, one a line', node?.range[0]);
      continue;
    }
    if (!entry) {
      report(`is not a setting${suggestion(key)}`);
      continue;
    }
    keysSeen.add(key);
    const otherForm = entry.inFile ? key.replace(/File$/, '') : `${key}File`;
    if (keysSeen.has(otherForm)) {
      report(`${otherForm} is set too; set only one`);
      continue;
    }
    readValue(entry, node, key, reading, report);
  }
}

function readValue(
  { setting, inFile }: { setting: Setting; inFile: boolean },
  node: ParsedNode | null,
  key: string,
  reading: ConfigFileReader,
  report: (problem: string, offset?: number) => void,
): void {
  const offset = node?.range[0];
  const value = node === null ? null : plainValue(node);
  const wrong = typeProblem(inFile ? 'text' : setting.value, value);
  if (isAlias(node)) {
    report('must not be a YAML alias; write the value itself', offset);
  } else if (value === null) {
    report('has no value: set one, or remove the key', offset);
  } else if (wrong !== undefined) {
    report(wrong, offset);
  } else if (inFile) {
    readSecret(reading, setting.flag, {
      file: value as string,
      source: 'file',
      at: reading.position(offset!, key),
    });
  } else if (setting.secret && reading.isWorldReadable) {
    report(
      `is a secret, but ${reading.path} can be read by anyone on this machine; restrict it ` +
        `(chmod o= ${reading.path}), or set ${key}File`,
    );
  } else {
    reading.given[setting.flag] = {
      value: value as GivenValue['value'],
      source: 'file',
      position: reading.position(offset!, key),
    };
  }
}

/** Returns a scalar or a list of scalars; undefined for anything else. */
function plainValue(node: ParsedNode): unknown {
  if (isScalar(node)) return node.value;
  return isSeq(node)
    ? node.items.map((item) => (isScalar(item) ? item.value : undefined))
    : undefined;
}

/** Returns what is wrong with the type of a value. Its bounds are checked later, as for flags. */
function typeProblem(type: Setting['value'], value: unknown): string | undefined {
  const isText = typeof value === 'string';
  switch (type) {
    case 'text':
      return isText
        ? undefined
        : `must be text${typeof value === 'number' || typeof value === 'boolean' ? ', in quotes' : ''}`;
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'seconds':
      return isText || typeof value === 'number'
        ? undefined
        : 'must be a duration such as 30s or 5m';
    case 'count':
      return isText || typeof value === 'number' ? undefined : 'must be a whole number';
    case 'duration':
      return isText ? undefined : 'must be a duration such as 30s, 10m or 48h';
    case 'size':
      return isText || typeof value === 'number'
        ? undefined
        : 'must be a size such as 512, 8Ki or 1Mi';
    case 'percent':
      return isText ? undefined : 'must be a percentage such as 20%';
    case 'list':
      return isText ||
        (Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== ''))
        ? undefined
        : 'must be a list of texts, or one comma-separated text';
  }
}

/**
 * Suggests the setting with the nearest spelling; a flag, a variable and other spellings of a key
 * count too.
 */
function suggestion(key: string): string {
  const normalized = (name: string): string =>
    name
      .toLowerCase()
      .replace(/^(vestibule_|--)/, '')
      .replaceAll(/[-_]/g, '');
  const nearestKey = nearest(normalized(key), [...knownKeys.keys()].map(normalized));
  const name = [...knownKeys.keys()].find((key) => normalized(key) === nearestKey);
  return name === undefined ? '' : `; did you mean ${name}?`;
}
