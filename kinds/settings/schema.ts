import { z } from 'zod';
import { settingSources } from '../../registry/limits/setting-sources.js';
import { mapList } from '../../registry/schema/list-type.js';
import { keysOf } from '../../registry/schema/typed-entries.js';
import { nameFallbacks } from '../apps/claims/name-fallback.js';
import { limitSettings } from '../limits/limit-settings.js';
import { emailAddress } from '../signin/email-address.js';
import { line, timestamp } from '../signin/schema-types.js';

/** Limits that a listener gets when it opens, so only a start changes them. */
const startLimits = ['requestHeaderSize', 'requestTimeout'] as const;

/** A limit that can change while the process runs. */
export type RuntimeLimit = Exclude<keyof typeof limitSettings, (typeof startLimits)[number]>;

/** Every limit that can change while the process runs. */
export const runtimeLimits = keysOf(limitSettings).filter(
  (name): name is RuntimeLimit => !startLimits.some((other) => other === name),
);

/** Returns the schema of a limit. Validation says what its value may be, with the reason. */
function limitSchema(name: RuntimeLimit) {
  const { value, default: fallback, min, max, describe } = limitSettings[name];
  return (value === 'count' ? z.number().int() : line(16))
    .optional()
    .describe(`${describe} From ${min} to ${max}; ${fallback} by default.`);
}

type LimitShape = Record<RuntimeLimit, ReturnType<typeof limitSchema>>;

/** The schema of what Settings set. */
export const SettingsSpec = z.object({
  limits: z
    .object(
      Object.fromEntries(runtimeLimits.map((name) => [name, limitSchema(name)])) as LimitShape,
    )
    .optional()
    .describe('Limits, in the units of their flags.'),
  policyTimeZone: line(64)
    .optional()
    .describe(
      'Time zone of timeOfDay and weekday in policies, by its name in the IANA database, such as ' +
        'Europe/Berlin.',
    ),
  emailFrom: emailAddress()
    .optional()
    .describe('Sender address of all mail; sign-in@<host of the base URL> by default.'),
  nameFallback: z
    .enum(nameFallbacks)
    .optional()
    .describe(
      'What apps that get the address get as name and preferred_username of a person without ' +
        'one: LocalPart (of the address), Email or Absent.',
    ),
});

/** What Settings set; what is absent has its value from the start of the process. */
export type SettingsSpec = z.infer<typeof SettingsSpec>;

/** How many revisions of Settings are kept. */
export const maxRevisions = 50;

const changedValue = (describe: string) => z.string().optional().describe(describe);

/** The schema of what is in force, and of what was changed. */
export const SettingsStatus = z.object({
  revisions: z
    .array(
      z.object({
        revision: z.number().int().min(1).describe('Its number.'),
        timestamp: timestamp().describe('When it was made.'),
        author: z
          .string()
          .describe('The Account or cluster user that made it; vestibule if the service did.'),
        changes: z
          .array(
            z.object({
              field: z.string().describe('The field below spec.'),
              from: changedValue('The value before. Absent if it was not set.'),
              to: changedValue('The value since. Absent if it was taken away.'),
            }),
          )
          .describe('What it changed. To go back, write each value of `from`.'),
      }),
    )
    .max(maxRevisions)
    .optional()
    .describe(`The last ${maxRevisions} changes of spec, the newest first.`),
  effective: mapList(
    z.array(
      z.object({
        name: z.string().describe('The name of its flag, as in the status of a Replica.'),
        field: z.string().describe('The field below spec that sets it.'),
        value: z.string().describe('The value in force.'),
        source: z
          .enum(settingSources)
          .describe('Where the value comes from. Flag, Environment and File win over spec.'),
      }),
    ),
    'name',
  )
    .optional()
    .describe('Each setting in force at the replica that answers. Not in lists and watches.'),
});

/** What is in force, and what was changed. */
export type SettingsStatus = z.infer<typeof SettingsStatus>;
