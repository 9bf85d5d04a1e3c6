import type { ObjectMeta, Replica } from '../../api.js';
import { locale } from '../../base/text/i18n.js';
import { idToWords } from '../../decisions/id-words.js';
import knownSettingsFile from './known-settings.json' with { type: 'json' };

/** What a setting is, in English, its default if every process has the same, and its type. */
interface KnownSetting {
  readonly description: string;
  readonly value?: string;
  readonly isCount?: boolean;
  readonly oneOf?: readonly string[];
}
const knownSettings: Readonly<Record<string, KnownSetting>> = knownSettingsFile;

type Source = Replica['status']['settings'][number]['source'];

/** The object of kind Settings, as far as the page reads it. */
export interface Settings {
  readonly metadata: ObjectMeta;
  readonly status: {
    readonly effective?: readonly {
      readonly name: string;
      readonly field: string;
      readonly value: string;
      readonly source: Source;
    }[];
    readonly revisions?: readonly {
      readonly revision: number;
      readonly timestamp: string;
      readonly author: string;
      readonly changes: readonly {
        readonly field: string;
        readonly from?: string;
        readonly to?: string;
      }[];
    }[];
  };
}

/** A setting in force. */
export interface Setting extends KnownSetting {
  readonly name: string;
  /** The field of Settings below spec, if one sets it. */
  readonly field?: string;
  readonly fallback?: string | undefined;
  readonly source: Source;
  /** Not every replica has this value, as while a release rolls out. */
  readonly differs: boolean;
}

/**
 * Returns all settings in the order of the configuration's reference. A replica says only what
 * differs from the default; Settings say what can be changed.
 */
export function settingsOf(
  replicas: readonly Replica[],
  effective: NonNullable<Settings['status']['effective']>,
): Setting[] {
  const fields = new Map(effective.map((one) => [one.name, one]));
  const byName = replicas.map(
    ({ status }) => new Map(status.settings.map((setting) => [setting.name, setting])),
  );
  const names = new Set([...Object.keys(knownSettings), ...byName.flatMap((of) => [...of.keys()])]);
  return [...names].map((name) => {
    const known = knownSettings[name] ?? { description: '' };
    const fallback = { value: known.value, source: 'Default' as const };
    const values = byName.map((settings) => settings.get(name) ?? fallback);
    const inForce = values.find(({ source }) => source !== 'Default') ?? values[0] ?? fallback;
    const own = fields.get(name);
    const { value, source } = own ?? inForce;
    return {
      ...known,
      name,
      ...(own && { field: own.field }),
      ...(value !== undefined && { value }),
      fallback: known.value,
      source,
      differs: values.some((one) => one.value !== inForce.value),
    };
  });
}

/** Whether something where the process was started wins over Settings, or only that can set it. */
export const isFixed = ({ field, source }: Setting): boolean =>
  field === undefined || !['Default', 'Settings'].includes(source);

/** The groups of settings by what their names contain; the first one that fits. */
const groupPatterns = [
  ['retention', /retention|recorded|decisions-|reviews-|replay/],
  [
    'signin',
    /email-code|interaction|sign-in|unproven|code|proofs|passkeys|recover|recent|challenges/,
  ],
  ['mail', /mail|smtp|invitation/],
  ['sessions', /session|token|known-browser/],
  ['limits', /^limits-/],
  ['other', /./],
] as const;

/** A group of settings. */
export type Group = (typeof groupPatterns)[number][0];

/** The groups in the order of the page. */
export const groups: readonly Group[] = [
  'signin',
  'mail',
  'sessions',
  'limits',
  'retention',
  'other',
];

/** Returns the group of a setting. */
export const groupOf = ({ name }: Setting): Group =>
  groupPatterns.find(([, pattern]) => pattern.test(name))![0];

const abbreviation = /\b(url|tls|ca|http|id|ip|smtp|uid)\b/gi;

/** Returns the name of a setting in words: Mails per network. */
export const titleOf = (name: string): string =>
  idToWords(name.replace(/^limits-/, '')).replace(abbreviation, (word) => word.toUpperCase());

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;
const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** Returns a value in words: durations in the largest unit that fits, counts in groups of digits. */
export function valueWords({ name, isCount }: Setting, value: string): string {
  if (isCount) return new Intl.NumberFormat(locale()).format(Number(value));
  const [, digits, letter = ''] = /^(\d+)([smh])$/.exec(value) ?? [];
  if (!digits || !name.startsWith('limits-')) return value;
  const seconds = Number(digits) * secondsIn[letter]!;
  const [unit, length] = units.find((one) => seconds % one[1] === 0)!;
  const format = new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(seconds / length);
}

/** Returns whether a setting is about these words. */
export const matches = ({ name, value, description }: Setting, words: string): boolean =>
  [name, titleOf(name), value, description].some((text) => text?.toLowerCase().includes(words));
