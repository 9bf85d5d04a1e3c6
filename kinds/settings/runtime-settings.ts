import { knownTimeZone } from '../../i18n/time-zone.js';
import { limitFlag } from '../../registry/limits/limit-flag.js';
import {
  type LimitName,
  type Limits,
  limitFault,
  parseLimit,
} from '../../registry/limits/limit-settings.js';
import type { NameFallback } from '../apps/claims/name-fallback.js';
import { limitContradictions, limitSettings } from '../limits/limit-settings.js';
import { runtimeLimits, type SettingsSpec } from './schema.js';

/**
 * The settings that an operator may change while the process runs, in the form in which a process
 * reads its own at the start.
 */
export interface RuntimeSettings {
  readonly limits: Limits;
  readonly emailFrom: string;
  readonly nameFallback: NameFallback;
  readonly policyTimeZone: string;
  /** The value of every setting by flag, as it is shown. */
  readonly displayed: Readonly<Record<string, unknown>>;
  /** The source of each: `flag`, the name of a variable, `file`, `spec` (of Settings) or `default`. */
  readonly sources: Readonly<Record<string, string>>;
}

declare module '../../registry/kind.js' {
  interface Settings {
    /** The IANA time zone of `timeOfDay` and `weekday` in policies. */
    readonly policyTimeZone: string;
    /** What the process was started with; the other settings are those in force. */
    readonly started: RuntimeSettings;
  }
  interface Ports {
    /** The settings in force at this replica. */
    settings: {
      /** Waits up to a second until what this replica committed is in force. */
      waitUntilFresh(): Promise<boolean>;
    };
  }
}

/** A setting that the object Settings can change. */
export interface RuntimeSetting {
  readonly flag: string;
  /** Its field below `spec`. */
  readonly field: string;
  readonly limit?: LimitName;
  /** Returns its value; undefined if it is not set. */
  valueIn(spec: SettingsSpec): string | number | undefined;
  /** Returns what a value must be, or undefined if it is valid. */
  faultOf(value: string | number): string | undefined;
}

type PlainField = 'emailFrom' | 'nameFallback' | 'policyTimeZone';

const plain = (
  flag: string,
  field: PlainField,
  faultOf: RuntimeSetting['faultOf'] = () => undefined,
): RuntimeSetting => ({ flag, field, valueIn: (spec) => spec[field], faultOf });

const zoneFault = (value: string | number): string | undefined =>
  knownTimeZone(`${value}`) === undefined ? 'must be a time zone such as Europe/Berlin' : undefined;

/** Every setting that the object Settings can change. */
export const runtimeSettings: readonly RuntimeSetting[] = [
  plain('policy-time-zone', 'policyTimeZone', zoneFault),
  plain('email-from', 'emailFrom'),
  plain('name-fallback', 'nameFallback'),
  ...runtimeLimits.map((limit): RuntimeSetting => {
    const setting = limitSettings[limit];
    return {
      flag: limitFlag(limit),
      field: `limits.${limit}`,
      limit,
      valueIn: ({ limits }) => limits?.[limit],
      faultOf(value) {
        const fault = limitFault(setting, value);
        return fault === undefined ? undefined : `must be ${fault}`;
      },
    };
  }),
];

/** Returns what fixes a setting at the start; undefined if Settings can change it. */
export function fixedBy(
  { sources }: Pick<RuntimeSettings, 'sources'>,
  flag: string,
): string | undefined {
  const source = sources[flag] ?? 'default';
  if (source === 'default') return undefined;
  if (source === 'flag') return `--${flag}`;
  return source === 'file' ? 'the configuration file' : source;
}

/**
 * Returns the settings of a process with those of the object. What the process was started with
 * wins. A value that is not valid, as one that another release stored, and limits that contradict
 * each other beside what the process was started with, stay what they were at the start.
 */
export function withSettings(started: RuntimeSettings, spec: SettingsSpec): RuntimeSettings {
  const limits: Record<LimitName, number> = { ...started.limits };
  const changed = new Map<string, RuntimeSetting>();
  for (const setting of runtimeSettings) {
    const value = setting.valueIn(spec);
    if (value === undefined || fixedBy(started, setting.flag) || setting.faultOf(value)) continue;
    changed.set(setting.flag, setting);
    if (setting.limit) limits[setting.limit] = parseLimit(limitSettings[setting.limit], value);
  }
  const contradiction = () =>
    limitContradictions(limits).find(({ less, more }) =>
      [less, more].some((limit) => changed.has(limitFlag(limit))),
    );
  for (let pair = contradiction(); pair; pair = contradiction()) {
    for (const limit of [pair.less, pair.more]) {
      limits[limit] = started.limits[limit];
      changed.delete(limitFlag(limit));
    }
  }
  const shown = [...changed.values()].map(({ flag, valueIn }) => [flag, valueIn(spec)] as const);
  return {
    limits,
    emailFrom: (changed.has('email-from') && spec.emailFrom) || started.emailFrom,
    nameFallback: (changed.has('name-fallback') && spec.nameFallback) || started.nameFallback,
    policyTimeZone:
      (changed.has('policy-time-zone') && spec.policyTimeZone) || started.policyTimeZone,
    displayed: { ...started.displayed, ...Object.fromEntries(shown) },
    sources: {
      ...started.sources,
      ...Object.fromEntries(shown.map(([flag]) => [flag, 'spec'])),
    },
  };
}
