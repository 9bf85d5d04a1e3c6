import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import type { Call, Caller, KindObject, Metadata, Transaction } from '../../registry/kind.js';
import { conditions, type Condition } from '../../registry/conditions.js';
import { invalid } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { isOperator } from '../group/group.js';
import { timestamp } from '../signin/schema-types.js';
import { causesOf, faultText } from './causes.js';
import type { RuleSummary } from './rule-summary.js';

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
});

const PolicyStatus = z.object({
  inForce: z.boolean().describe('Whether this policy is the active one.'),
  inForceSince: timestamp().describe('When it became active.'),
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
      }),
    )
    .describe('The rules of the text.'),
  impact: Impact.optional().describe('On a dry run: what would change.'),
  conditions: conditions('InForce').optional(),
});

/** A Policy as the server holds it. */
export type PolicyObject = KindObject<z.infer<typeof PolicySpec>, z.infer<typeof PolicyStatus>>;

/**
 * A policy, active or superseded: numbered in order and immutable; the newest is active
 * (docs/design/api.md#policy).
 */
export const Policy = defineKind({
  kind: 'Policy',
  resource: 'policies',
  singular: 'policy',
  shortNames: ['pol'],
  nameSource: 'service',
  description: 'The active policy, or a superseded one. Anyone may read it.',
  verbs: ['get', 'list', 'watch', 'create'],
  spec: PolicySpec,
  status: PolicyStatus,
  selectableFields: { 'status.inForce': ({ status }) => status.inForce },
  columns: {
    'In-Force': ({ status }) => status.inForce,
    Rules: ({ status }) => status.rules.length,
    Author: { wide: ({ status }) => status.author ?? '' },
  },
  strategy: {
    /** Everyone may read the policy; only operators see its author. */
    status({ status }, { caller }) {
      if (!isOperator(caller)) delete status.author;
      status.conditions = [inForceCondition(status)];
    },
  },
  create: {
    dryRun: true,
    /**
     * Checks the text before any transaction, supersedes the previous policy in one commit, and
     * responds once the new one is active on this replica.
     */
    async run(call, { spec, metadata }): Promise<PolicyObject> {
      const checked = await call.ports.policy.check(spec.cedar);
      if ('faults' in checked) throw invalid(Policy, '', causesOf(checked.faults));
      for (const warning of checked.warnings) call.warn(`spec.cedar: ${faultText(warning)}`);
      const created = await call.change((tx) =>
        createPolicy(tx, call, { spec, rules: checked.rules, metadata }),
      );
      if (call.dryRun) created.status.impact = await call.ports.policy.replay(spec.cedar);
      else await call.ports.policy.activate(created, checked.warnings);
      return created;
    },
  },
});

const inForceCondition = ({
  inForce,
  inForceSince,
  supersededTimestamp,
}: z.infer<typeof PolicyStatus>): Condition => ({
  type: 'InForce',
  ...(inForce
    ? { status: 'True', reason: 'Newest', message: 'Every request is decided by this policy.' }
    : { status: 'False', reason: 'Superseded', message: 'A newer policy replaced it.' }),
  lastTransitionTime: supersededTimestamp ?? inForceSince,
});

/** A policy to be created; its text was checked. */
interface NewPolicy {
  readonly spec: z.infer<typeof PolicySpec>;
  readonly rules: readonly RuleSummary[];
  readonly metadata?: Pick<Metadata, 'labels' | 'annotations'> /** SHA-256 of a manifest's text. */;
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

const newestKey = 'meta/policy';

/** The name of a policy by its number, and the reverse. */
export const policyName = (number: number): string => `p-${number}`;
export const policyNumber = (name: string): number => Number(name.slice(2));

/** Returns the SHA-256 of a text in hex. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns which policy is the newest, in this transaction; undefined if there is none. */
export async function readNewestPolicy(tx: Pick<Transaction, 'read'>): Promise<Newest | undefined> {
  const current = await tx.read(newestKey);
  return current && (JSON.parse(current.value.toString()) as Newest);
}

/**
 * Creates the newest policy and supersedes the previous one in one commit. Concurrent creates each
 * get a number of their own.
 */
export async function createPolicy(
  tx: Transaction,
  call: Pick<Call, 'now' | 'caller' | 'dryRun'>,
  { spec, rules, metadata = {}, manifest }: NewPolicy,
): Promise<PolicyObject> {
  const newest = await readNewestPolicy(tx);
  const number = (newest?.number ?? 0) + 1;
  const now = toTimestamp(call.now);
  if (newest)
    await tx.update(Policy, policyName(newest.number), ({ status }) => {
      status.inForce = false;
      status.supersededTimestamp = now;
    });
  const manifestHash = manifest ?? newest?.manifest;
  tx.write(
    newestKey,
    Buffer.from(JSON.stringify({ number, ...(manifestHash && { manifest: manifestHash }) })),
  );
  const existing = call.dryRun ? undefined : await tx.get(Policy, policyName(number));
  if (existing) return existing; // another came in between the two reads: this commit is lost at the newest, and made again
  const { labels, annotations } = metadata;
  return tx.create(Policy, {
    metadata: {
      name: policyName(number),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec,
    status: {
      inForce: true,
      inForceSince: now,
      author: authorOf(call.caller),
      hash: hashOf(spec.cedar),
      rules: rules.map((rule) => ({ ...rule })),
    },
  });
}

function authorOf(caller: Caller): string {
  if (caller.type === 'Account') return caller.account;
  return caller.type === 'ClusterUser' ? caller.user : 'vestibule';
}
