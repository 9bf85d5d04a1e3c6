import type { KindObject } from '../../registry/kind.js';
import { type LimitName, parseLimit } from '../../registry/limits/limit-settings.js';
import { shownSource } from '../../registry/limits/setting-sources.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { forbiddenField, invalidValue } from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';
import type { Store } from '../../registry/store/store.js';
import { defineKind } from '../define-kind.js';
import { limitContradictions, limitSettings } from '../limits/limit-settings.js';
import { changeAuthor } from '../signin/caller.js';
import {
  fixedBy,
  type RuntimeSettings,
  runtimeSettings,
  withSettings,
} from './runtime-settings.js';
import { maxRevisions, SettingsSpec, SettingsStatus } from './schema.js';

/** The name of the one Settings object. */
export const settingsName = 'default';

type SettingsObject = KindObject<SettingsSpec, SettingsStatus>;
type Revisions = NonNullable<SettingsStatus['revisions']>;

/** Settings that are in force on all replicas as soon as they are written: one object. */
export const Settings = defineKind({
  kind: 'Settings',
  resource: 'settings',
  singular: 'settings',
  description:
    'Settings that are in force on all replicas without a restart, in one object named default. ' +
    'A flag, a variable or the configuration file wins over it.',
  verbs: ['get', 'list', 'watch', 'patch', 'update'],
  spec: SettingsSpec,
  status: SettingsStatus,
  columns: {
    Set: ({ spec }) => runtimeSettings.filter(({ valueIn }) => valueIn(spec) !== undefined).length,
    Revision: ({ status }) => status.revisions?.[0]?.revision ?? 0,
    Author: { wide: ({ status }) => status.revisions?.[0]?.author ?? '' },
  },
  strategy: {
    default(next, old, { caller, now }) {
      const changes = changesOf(old?.spec ?? {}, next.spec);
      if (changes.length === 0) return;
      const before = old?.status.revisions ?? [];
      const revision = (before[0]?.revision ?? 0) + 1;
      const author = changeAuthor(caller);
      next.status.revisions = [
        { revision, timestamp: toTimestamp(now), author, changes },
        ...before,
      ].slice(0, maxRevisions);
    },
    validate: (next, old, { settings }) => [
      ...(next.metadata.name === settingsName
        ? []
        : [invalidValue('metadata.name', `must be ${settingsName}`)]),
      ...settingFaults(next.spec, old?.spec ?? {}, settings.started),
      ...contradictions(next.spec, settings.started),
    ],
    /** The answer to a change says what is in force, so it waits until it is so at this replica. */
    async decorate(object, { ports, settings }) {
      await ports.settings.waitUntilFresh();
      object.status.effective = effectiveSettings(object, settings.started);
    },
  },
});

/** Returns what a change of spec changes, each value as text. */
const changesOf = (before: SettingsSpec, after: SettingsSpec): Revisions[number]['changes'] =>
  runtimeSettings.flatMap(({ field, valueIn }) => {
    const [from, to] = [valueIn(before), valueIn(after)];
    if (from === to) return [];
    return [
      {
        field,
        ...(from !== undefined && { from: `${from}` }),
        ...(to !== undefined && { to: `${to}` }),
      },
    ];
  });

/** Returns a fault for each value out of its bounds, and each change of what a start fixes. */
const settingFaults = (
  next: SettingsSpec,
  before: SettingsSpec,
  started: RuntimeSettings,
): Cause[] =>
  runtimeSettings.flatMap(({ flag, field, valueIn, faultOf }) => {
    const value = valueIn(next);
    if (value === undefined) return [];
    const fault = faultOf(value);
    if (fault !== undefined) return [invalidValue(`spec.${field}`, fault)];
    const fixed = fixedBy(started, flag);
    if (fixed === undefined || value === valueIn(before)) return [];
    return [
      forbiddenField(
        `spec.${field}`,
        `${fixed} sets it to ${started.displayed[flag]} at every start; take it away there first`,
      ),
    ];
  });

/** Returns the limits of spec that contradict another one, with those of the start. */
function contradictions(spec: SettingsSpec, started: RuntimeSettings): Cause[] {
  const changed = new Map<LimitName, number>();
  for (const { flag, limit, valueIn, faultOf } of runtimeSettings) {
    const value = valueIn(spec);
    if (limit === undefined || value === undefined || fixedBy(started, flag)) continue;
    if (!faultOf(value)) changed.set(limit, parseLimit(limitSettings[limit], value));
  }
  const limits = { ...started.limits, ...Object.fromEntries(changed) };
  return limitContradictions(limits).map(({ less, more, why }) =>
    changed.has(less)
      ? invalidValue(`spec.limits.${less}`, `must be at most limits.${more}: ${why}`)
      : invalidValue(`spec.limits.${more}`, `must be at least limits.${less}: ${why}`),
  );
}

/** Returns each setting in force at a replica that was started with these. */
function effectiveSettings(
  { spec }: SettingsObject,
  started: RuntimeSettings,
): NonNullable<SettingsStatus['effective']> {
  const { displayed, sources } = withSettings(started, spec);
  return runtimeSettings.map(({ flag, field }) => ({
    name: flag,
    field,
    value: `${displayed[flag]}`,
    source: shownSource(sources[flag]),
  }));
}

/** Creates the Settings if they are absent, so that they can always be read; runs once at start. */
export async function declareSettings(store: Store): Promise<void> {
  await store.change(store.systemCall(), async (tx) => {
    if (!(await tx.get(Settings, settingsName))) {
      await tx.create(Settings, { metadata: { name: settingsName }, spec: {} });
    }
  });
}
