import { z } from 'zod';
import { fromTimestamp, toTimestamp } from '../registry/schema/timestamp.js';
import { dayMs, hourMs } from '../registry/schema/units.js';
import { defineKind } from './define-kind.js';
import { timestamp } from './signin/schema-types.js';

/** How long the counts of an hour are kept after its end, in milliseconds. */
const retentionMs = 30 * dayMs;

/** How many names a list of counts has at most; what has no room counts as {@link otherName}. */
export const maxCountNames = 50;
/** The name of what has no room of its own in a list of counts. */
export const otherName = 'other';

const counts = (describe: string) =>
  z
    .array(
      z.object({
        name: z.string().describe('What was counted.'),
        count: z.number().int().min(1).describe('How often it happened in the hour.'),
        lastTimestamp: timestamp().describe('When it last happened, known to the minute.'),
      }),
    )
    .max(maxCountNames + 1)
    .describe(
      `${describe} Absent names count 0; those above ${maxCountNames} are added up as ${otherName}.`,
    );

const HourlyCountStatus = z.object({
  startTimestamp: timestamp().describe('When the hour began.'),
  signIns: counts('Sign-ins by their method: EmailCode, EmailLink or Passkey.'),
  signInsFailed: counts(
    'Attempts to sign in that failed, by outcome: Wrong, Expired, Refused, Limited or Failed.',
  ),
  mails: counts(
    'Tries to send a mail by outcome: Sent, Kept (in the mock mailbox), Deferred, Failed or Unknown.',
  ),
  refusedByRule: counts(
    'What policy refused, by the rule that decided: default if no rule permits it. Reads of operators are ' +
      'left out.',
  ),
  refusedByLimit: counts('What limits refused, by the flag that sets the limit, or by its name.'),
});

/** What all replicas counted in an hour. */
export type HourlyCountStatus = z.infer<typeof HourlyCountStatus>;

/** Returns the name of the hour that begins at `start`, in ms since the epoch: names sort by time. */
export const hourName = (start: number): string =>
  toTimestamp(start).slice(0, 13).toLowerCase().replace('t', '-');

const sum = (list: HourlyCountStatus['signIns']): number =>
  list.reduce((total, { count }) => total + count, 0);

/** Sorts the newest hour first. */
const newestFirst = ({ status }: { status: HourlyCountStatus }): string =>
  String(99_999_999 - fromTimestamp(status.startTimestamp) / hourMs);

/** What happened in an hour. Each replica adds to it every minute, and at its end. */
export const HourlyCount = defineKind({
  kind: 'HourlyCount',
  resource: 'hourlycounts',
  nameSource: 'service',
  description:
    'What all replicas counted in an hour: sign-ins, mails and refusals. Its name is the hour in UTC. Each ' +
    'replica adds what it counted every minute, and at its end. It is gone 30 days after the hour.',
  verbs: ['get', 'list', 'watch'],
  spec: z.object({}),
  status: HourlyCountStatus,
  expires: ({ status }) => fromTimestamp(status.startTimestamp) + hourMs + retentionMs,
  orders: { 'status.startTimestamp': newestFirst },
  columns: {
    'Sign-Ins': ({ status }) => sum(status.signIns),
    Failed: ({ status }) => sum(status.signInsFailed),
    Mails: ({ status }) => sum(status.mails),
    'Refused-By-Rule': ({ status }) => sum(status.refusedByRule),
    'Refused-By-Limit': ({ status }) => sum(status.refusedByLimit),
  },
});
