/**
 * Returns the names that rules may use, as the editor of the console completes them: each with its
 * kind and what it is.
 */
export function pageVocabulary({ types, actions, groups }, contextAttributes, entityAttributes) {
  const entry = (of, label, info) => ({ of, label, info });
  const attributes = new Set([...types.values()].flatMap((type) => Object.keys(type.attributes)));
  const aboutAttribute = (name) =>
    Object.entries(entityAttributes)
      .filter(([, own]) => Object.hasOwn(own, name))
      .map(([type, own]) => `${type}: ${own[name].description}`)
      .join(' ');
  const entries = [
    ...[...types].map(([name, { description }]) => entry('type', name, description)),
    ...[...actions].map(([name, { description }]) => entry('action', name, description)),
    ...[...groups].map(([name, description]) => entry('action', name, description)),
    ...[...attributes].map((name) => entry('attribute', name, aboutAttribute(name))),
    ...Object.entries(contextAttributes).map(([name, { description, optional }]) =>
      entry(
        'context',
        name,
        optional ? `${description} Test \`context has ${name}\` first.` : description,
      ),
    ),
  ];
  const lines = entries.map(entryText);
  return `// Generated from policy/model by hack/gen. Do not edit.

/** A name that rules may use. */
export interface VocabularyEntry {
  readonly of: 'type' | 'action' | 'attribute' | 'context';
  readonly label: string;
  /** What it is, in English. */
  readonly info?: string;
}

export const vocabulary: readonly VocabularyEntry[] = [
${lines.join('\n')}
];
`;
}

/** Returns a text as a string, on lines of some 80 characters. */
const wrapped = (text) =>
  text
    .match(/.{1,80}(?:\s|$)|.+/g)
    .map((part) => JSON.stringify(part))
    .join(' +\n      ');

const entryText = ({ of, label, info }) =>
  `  {\n    of: '${of}',\n    label: '${label}',\n${info ? `    info:\n      ${wrapped(info)},\n` : ''}  },`;

/** Returns what each setting is and its default, as the console shows them. */
export const knownSettings = (settings) => `// Generated from the settings by hack/gen. Do not edit.

/** A setting of the service. */
export interface KnownSetting {
  /** What it is, in English. */
  readonly description: string;
  /** Its default, if every process has the same. */
  readonly value?: string;
}

/** The settings of the service by name. */
export const knownSettings: Readonly<Record<string, KnownSetting>> = {
${settings.map(settingText).join('\n')}
};
`;

const settingText = ({ flag, describe, default: fallback }) =>
  `  '${flag}': {\n    description:\n      ${wrapped(describe)},\n${
    fallback === undefined ? '' : `    value: '${fallback}',\n`
  }  },`;
