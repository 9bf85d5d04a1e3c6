import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Call, KindObject, Metadata, Transaction } from '../../registry/kind.js';
import { type Condition, conditions } from '../../registry/schema/conditions.js';
import { jsonValue } from '../../registry/schema/json-value.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { daySeconds } from '../../registry/schema/units.js';
import { invalid } from '../../registry/status/status.js';
import { defineKind } from '../define-kind.js';
import { changeAuthor } from '../signin/caller.js';
import { isOperator } from '../signin/operator-caller.js';
import { statusTexts, timestamp } from '../signin/schema-types.js';
import { causesOf, faultText } from './causes.js';
import type { RuleSummary } from './rule-summary.js';
import { agreedCondition, newShadow, ShadowStatus } from './shadow-status.js';

/** How recorded decisions would change under a new text (docs/design/api.md#policy-dry-run). */
const Impact = z.object({
  replayed: z
    .number()
    .int()
    .describe('Recorded decisions that were evaluated against the new text.'),
  unchanged: z.number().int().describe('Decisions that stay the same.'),
  nowRefused: z
    .array(z.string())
    .describe('Names of decisions that were permitted and would be refused.'),
  nowAllowed: z
    .array(z.string())
    .describe('Names of decisions that were refused and would be permitted.'),
  undecidable: z
    .number()
    .int()
    .describe(
      'Decisions that cannot be evaluated: their kind is no longer served, or the new text ' +
        'fails on them.',
    ),
  unnamed: z
    .object({
      nowRefused: z.number().int().describe('How many more.'),
      nowAllowed: z.number().int().describe('How many more.'),
    })
    .optional()
    .describe('How many decisions would change beyond those named.'),
  notReached: z
    .number()
    .int()
    .optional()
    .describe('Recorded decisions not evaluated within the time limit, approximately.'),
});
export type Impact = z.infer<typeof Impact>;

const PolicySpec = z.object({
  cedar: z
    .string()
    .min(1)
    .max(64 << 10)
    .describe('The policy text, in Cedar.'),
  description: z.string().max(1024).optional().describe('What the policy is for.'),
  mode: z
    .enum(['Enforce', 'Shadow'])
    .optional()
    .describe(
      'Enforce, the default: it decides every request. Shadow: it only says what it would decide, ' +
        'until a newer Policy is created.',
    ),
  minAgreedSeconds: z
    .number()
    .int()
    .min(1)
    .max(30 * daySeconds)
    .optional()
    .describe(
      'With mode Shadow: for how long no decision may differ before the condition Agreed is true; ' +
        'a day by default.',
    ),
});

const PolicyStatus = z.object({
  inForce: z.boolean().describe('Whether this policy is the active one.'),
  inForceSince: timestamp().optional().describe('When it became active; absent in mode Shadow.'),
  supersededTimestamp: timestamp().optional().describe('When a newer policy replaced it.'),
  author: z
    .string()
    .optional()
    .describe(
      'The Account or cluster user that created it; vestibule if the service did. ' +
        'Shown to operators only.',
    ),
  hash: z.string().describe('SHA-256 of the text.'),
  rules: z
    .array(
      z.object({
        id: z.string().describe('The rule’s @id, or ruleN for the N-th rule.'),
        effect: z.enum(['permit', 'forbid']).describe('Whether the rule permits or forbids.'),
        message: z.string().optional().describe('The message shown to people.'),
        messages: statusTexts('The message'),
      }),
    )
    .describe('The rules of the text.'),
  impact: Impact.optional().describe('On a dry run: what would change.'),
  shadow: ShadowStatus.optional().describe(
    'In mode Shadow: what it would have decided. Shown to operators only.',
  ),
  conditions: conditions('InForce, and Agreed in mode Shadow').optional(),
});

/** A Policy as the server holds it. */
export type PolicyObject = KindObject<z.infer<typeof PolicySpec>, z.infer<typeof PolicyStatus>>;

/**
 * A policy, active, superseded or in mode Shadow: numbered in order and immutable; the newest is
 * active (docs/design/api.md#policy).
 */
export const Policy = defineKind({
  kind: 'Policy',
  resource: 'policies',
  singular: 'policy',
  shortNames: ['pol'],
  nameSource: 'service',
  description: 'The active policy, a superseded one, or one in trial. Anyone may read it.',
  verbs: ['get', 'list', 'watch', 'create'],
  isPublic: true,
  spec: PolicySpec,
  status: PolicyStatus,
  selectableFields: { 'status.inForce': ({ status }) => status.inForce },
  columns: {
    Mode: ({ spec }) => spec.mode ?? 'Enforce',
    'In-Force': ({ status }) => status.inForce,
    Rules: ({ status }) => status.rules.length,
    Author: { wide: ({ status }) => status.author ?? '' },
  },
  strategy: {
    /** Everyone may read the policy; only operators see its author, and how a trial goes. */
    status({ status }, { caller }) {
      const inForce = inForceCondition(status);
      if (!isOperator(caller)) {
        delete status.author;
        delete status.shadow;
      }
      status.conditions = [inForce, ...(status.shadow ? [agreedCondition(status.shadow)] : [])];
    },
  },
  create: {
    dryRun: true,
    /**
     * Checks the text before any transaction, supersedes the previous policy in one commit, and
     * responds once the new one is active, or compared in mode Shadow, on this replica.
     */
    async run(call, { spec, metadata }): Promise<PolicyObject> {
      const checked = await call.ports.policy.check(spec.cedar);
      if ('faults' in checked) throw invalid(Policy, '', causesOf(checked.faults));
      for (const warning of checked.warnings) call.warn(`spec.cedar: ${faultText(warning)}`);
      const created = await call.change((tx) =>
        createPolicy(tx, call, { spec, rules: checked.rules, metadata }),
      );
      if (call.dryRun) {
        created.status.impact = await call.ports.policy.replay(spec.cedar);
      } else {
        await call.ports.policy.activate(created, checked.warnings);
      }
      return created;
    },
  },
});

const inForceCondition = ({
  inForce,
  inForceSince,
  supersededTimestamp,
  shadow,
}: z.infer<typeof PolicyStatus>): Condition => ({
  type: 'InForce',
  ...inForceState(inForce, shadow !== undefined && supersededTimestamp === undefined),
  lastTransitionTime: (supersededTimestamp ?? inForceSince ?? shadow?.since)!,
});

function inForceState(inForce: boolean, isTried: boolean) {
  if (inForce) {
    return {
      status: 'True',
      reason: 'Newest',
      message: 'Every request is decided by this policy.',
    } as const;
  }
  return isTried
    ? ({
        status: 'False',
        reason: 'Shadow',
        message: 'It is compared with the policy in force.',
      } as const)
    : ({ status: 'False', reason: 'Superseded', message: 'A newer policy replaced it.' } as const);
}

/** A policy to be created; its text was checked. */
interface NewPolicy {
  readonly spec: z.infer<typeof PolicySpec>;
  readonly rules: readonly RuleSummary[];
  readonly metadata?: Pick<Metadata, 'labels' | 'annotations'>;
  /** SHA-256 of a manifest's text. */
  readonly manifest?: string;
}

/**
 * The number of the newest policy, and the hash of the text last loaded from a manifest. Concurrent
 * creates conflict on this record.
 */
interface Newest {
  readonly number: number;
  readonly manifest?: string;
}

/** The latest policy in mode Shadow; concurrent creates conflict on this record too. */
interface LatestShadow {
  readonly number: number;
  readonly isRunning: boolean;
  readonly manifest?: string;
}

/** The key of the record that names the newest policy. */
export const newestPolicyKey = 'meta/policy';
const shadowKey = 'meta/shadow-policy';

/** The name of a policy in mode Shadow by its number. */
export const shadowName = (number: number): string => `s-${number}`;

/** The name of a policy by its number, and the reverse. */
export const policyName = (number: number): string => `p-${number}`;
export const policyNumber = (name: string): number => Number(name.slice(2));

/** Returns the SHA-256 of a text in hex. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns which policy is the newest, in this transaction; undefined if there is none. */
export async function readNewestPolicy(tx: Pick<Transaction, 'read'>): Promise<Newest | undefined> {
  const current = await tx.read(newestPolicyKey);
  return current && jsonValue<Newest>(current);
}

/** Returns the latest policy in mode Shadow, in this transaction; undefined if there was none. */
export async function readLatestShadow(
  tx: Pick<Transaction, 'read'>,
): Promise<LatestShadow | undefined> {
  const current = await tx.read(shadowKey);
  return current && jsonValue<LatestShadow>(current);
}

type CreateCall = Pick<Call, 'now' | 'caller' | 'dryRun'>;

/**
 * Creates the newest policy, or one in mode Shadow, and supersedes the previous one in one commit.
 * A policy in mode Shadow ends with any newer one. Concurrent creates each get a number of their
 * own.
 */
export async function createPolicy(
  tx: Transaction,
  call: CreateCall,
  policy: NewPolicy,
): Promise<PolicyObject> {
  const shadow = await readLatestShadow(tx);
  if (shadow?.isRunning) await supersede(tx, shadowName(shadow.number), call);
  if (policy.spec.mode === 'Shadow') return createShadow(tx, call, policy, shadow);
  if (shadow?.isRunning) writeRecord(tx, shadowKey, { number: shadow.number, isRunning: false });
  return createInForce(tx, call, policy);
}

async function createInForce(
  tx: Transaction,
  call: CreateCall,
  policy: NewPolicy,
): Promise<PolicyObject> {
  const newest = await readNewestPolicy(tx);
  const number = (newest?.number ?? 0) + 1;
  if (newest) await supersede(tx, policyName(newest.number), call);
  const manifest = policy.manifest ?? newest?.manifest;
  writeRecord(tx, newestPolicyKey, { number, ...(manifest && { manifest }) });
  const name = policyName(number);
  return (
    (await createdMeanwhile(tx, call, name)) ??
    tx.create(Policy, {
      ...draftOf(name, policy),
      status: { inForce: true, inForceSince: toTimestamp(call.now), ...statusOf(call, policy) },
    })
  );
}

async function createShadow(
  tx: Transaction,
  call: CreateCall,
  policy: NewPolicy,
  latest: LatestShadow | undefined,
): Promise<PolicyObject> {
  const newest = (await readNewestPolicy(tx))!;
  const number = (latest?.number ?? 0) + 1;
  const manifest = policy.manifest ?? latest?.manifest;
  writeRecord(tx, shadowKey, { number, isRunning: true, ...(manifest && { manifest }) });
  const name = shadowName(number);
  return (
    (await createdMeanwhile(tx, call, name)) ??
    tx.create(Policy, {
      ...draftOf(name, policy),
      status: {
        inForce: false,
        ...statusOf(call, policy),
        shadow: newShadow(policyName(newest.number), toTimestamp(call.now)),
      },
    })
  );
}

const writeRecord = (tx: Transaction, key: string, record: Newest | LatestShadow): void =>
  tx.write(key, Buffer.from(JSON.stringify(record)));

async function supersede(tx: Transaction, name: string, { now }: CreateCall): Promise<void> {
  await tx.update(Policy, name, ({ status }) => {
    status.inForce = false;
    status.supersededTimestamp = toTimestamp(now);
  });
}

/**
 * Returns a policy of this name that came in between two reads: this commit conflicts on the record,
 * and is made again.
 */
const createdMeanwhile = async (tx: Transaction, { dryRun }: CreateCall, name: string) =>
  dryRun ? undefined : tx.get(Policy, name);

const draftOf = (name: string, { spec, metadata: { labels, annotations } = {} }: NewPolicy) => ({
  metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
  spec,
});

const statusOf = ({ caller }: CreateCall, { spec, rules }: NewPolicy) => ({
  author: changeAuthor(caller),
  hash: hashOf(spec.cedar),
  rules: rules.map((rule) => ({ ...rule })),
});
