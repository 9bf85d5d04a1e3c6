import { z } from 'zod';
import { settingSources } from '../registry/limits/setting-sources.js';
import { fromTimestamp } from '../registry/schema/timestamp.js';
import { minuteMs } from '../registry/schema/units.js';
import { defineKind } from './define-kind.js';
import { timestamp } from './signin/schema-types.js';

/** For how many minutes a Replica keeps what it counted. */
export const activityMinutes = 60;

/** How long the record of a process outlives its last renewal: three renewals, in milliseconds. */
const lifetimeMs = 3 * minuteMs;

const perMinute = (describe: string) =>
  z.array(z.number().int().min(0)).max(activityMinutes).describe(describe);

const ReplicaStatus = z.object({
  release: z.string().describe('The release that it runs.'),
  startTimestamp: timestamp().describe('When the process started.'),
  renewTimestamp: timestamp().describe(
    'When the process last wrote this object, which it does every minute.',
  ),
  ready: z.boolean().describe('Whether its readiness checks passed.'),
  failedChecks: z
    .array(z.string())
    .describe('The names of the readiness checks that failed, as in /readyz?verbose.'),
  policy: z.string().optional().describe('The name of the Policy that it uses.'),
  store: z
    .object({
      driver: z.enum(['Embedded', 'Etcd']).describe('The driver of the store.'),
      copies: z
        .array(
          z.object({
            name: z.string().describe('embedded, or etcd-0 for the first of etcd-servers.'),
            bytes: z.number().int().min(0).describe('Its size on disk in bytes.'),
            quotaBytes: z
              .number()
              .int()
              .min(0)
              .optional()
              .describe('The size at which it accepts no more writes, where known.'),
          }),
        )
        .describe('The copies of the store whose size is known.'),
      lastSnapshotTimestamp: timestamp()
        .optional()
        .describe(
          'When `vestibule snapshot save` last saved this store. Absent if never. Other backups are ' +
            'not known.',
        ),
    })
    .describe('The store that it uses.'),
  manifests: z
    .array(
      z.object({
        file: z.string().describe('The name of the file in the folder of `manifests`.'),
        state: z
          .enum(['Applied', 'Faulty'])
          .describe('Whether it was applied as it is now, or has a fault.'),
        objects: z.number().int().min(0).describe('How many objects it declares.'),
        message: z.string().optional().describe('The first fault, if there is one.'),
        timestamp: timestamp().describe('When it was last applied with a change, or was faulty.'),
      }),
    )
    .max(1000)
    .optional()
    .describe('The files of the folder of `manifests`, if it is set.'),
  lastMailTimestamp: timestamp()
    .optional()
    .describe(
      'When the mail server in use last accepted a mail, known at least to the day. Absent if ' +
        'never, and for mails in the mock mailbox.',
    ),
  activity: z
    .object({
      endTimestamp: timestamp().describe('The end of the last minute.'),
      signIns: perMinute('Sign-ins.'),
      signInsFailed: perMinute(
        'Attempts to sign in that were wrong, too late, refused or limited.',
      ),
      mailsSent: perMinute('Mails that were sent, or put in the mock mailbox.'),
      mailsFailed: perMinute('Mails that were not sent, or perhaps not. Each try counts.'),
      requestsRefused: perMinute(
        'Decisions of policy that refused something, except reads of operators.',
      ),
    })
    .describe(
      `What it counted in each whole minute since it started, ${activityMinutes} at most, the newest last.`,
    ),
  refusals: z
    .array(
      z.object({
        limit: z.string().describe('The limit.'),
        setting: z.string().optional().describe('The name of the flag that sets it.'),
        value: z.string().optional().describe('What it is set to.'),
        count: z.number().int().min(1).describe('How often it refused something in the last hour.'),
      }),
    )
    .max(100)
    .optional()
    .describe('The limits that refused something, most refusals first.'),
  settings: z
    .array(
      z.object({
        name: z.string().describe('The name of its flag.'),
        value: z
          .string()
          .optional()
          .describe(
            'The value in force. Secrets and addresses of people are ***. Absent if unset.',
          ),
        source: z.enum(settingSources).describe('Where the value comes from.'),
      }),
    )
    .describe(
      'Its settings in force, except those that have the default of their release. ' +
        '`vestibule serve --help` says what each of them is.',
    ),
});

/** What a running process says about itself. */
export type ReplicaStatus = z.infer<typeof ReplicaStatus>;

/** A running process of the service. It writes the object each minute and deletes it at its end. */
export const Replica = defineKind({
  kind: 'Replica',
  resource: 'replicas',
  nameSource: 'service',
  description:
    'A running process of this service: its state, its settings, and what it counted in the last ' +
    'hour. The process writes it each minute. It is gone when the process ends, or three minutes ' +
    'after its last write.',
  verbs: ['get', 'list', 'watch'],
  spec: z.object({}),
  status: ReplicaStatus,
  expires: ({ status }) => fromTimestamp(status.renewTimestamp) + lifetimeMs,
  columns: {
    Ready: ({ status }) => (status.ready ? 'True' : 'False'),
    Release: ({ status }) => status.release,
    Store: ({ status }) => status.store.driver,
    'Sign-Ins': ({ status }) => String(sum(status.activity.signIns)),
    'Failed-Checks': { wide: ({ status }) => status.failedChecks.join(', ') || 'None' },
  },
});

const sum = (counts: readonly number[]): number =>
  counts.reduce((total, count) => total + count, 0);
