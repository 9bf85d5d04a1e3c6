import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  defineKind,
  type Call,
  type Caller,
  type KindObject,
  type Metadata,
  type Transaction,
} from '../../registry/kind.js';
import { invalid } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { isOperator } from '../group/group.js';
import { timestamp } from '../signin/schema-types.js';
import { causesOf } from './causes.js';
import type { RuleSummary } from './rule-summary.js';

/** What the recorded decisions would be under a new text (docs/design/api.md#policy-dry-run). */
const Impact = z.object({
  replayed: z.number().int().describe('Recorded decisions that were put to the new text.'),
  unchanged: z.number().int().describe('Those that stay as they are.'),
  nowRefused: z
    .array(z.string())
    .describe('Names of those that were permitted and would be refused.'),
  nowAllowed: z
    .array(z.string())
    .describe('Names of those that were refused and would be permitted.'),
  undecidable: z
    .number()
    .int()
    .describe(
      'Those that cannot be put to the new text: what they are about is not served any more, or ' +
        'the text fails on them.',
    ),
  unnamed: z
    .object({
      nowRefused: z.number().int().describe('More of these.'),
      nowAllowed: z.number().int().describe('More of these.'),
    })
    .optional()
    .describe('How many flip beyond those named.'),
  notReached: z
    .number()
    .int()
    .optional()
    .describe('Recorded decisions that time did not suffice for.'),
});
export type Impact = z.infer<typeof Impact>;

const PolicySpec = z.object({
  cedar: z
    .string()
    .min(1)
    .max(64 << 10)
    .describe('The text, in Cedar.'),
  description: z.string().max(1024).optional().describe('What it is for, in words.'),
});

const PolicyStatus = z.object({
  inForce: z.boolean().describe('Every request is put to this one.'),
  inForceSince: timestamp().describe('Since when it is, or from when it was.'),
  supersededTimestamp: timestamp().optional().describe('When another took its place.'),
  author: z
    .string()
    .optional()
    .describe(
      'The Account that created it, or the user of a cluster; vestibule where the service did. ' +
        'Shown to operators alone.',
    ),
  hash: z.string().describe('SHA-256 of the text.'),
  rules: z
    .array(
      z.object({
        id: z.string().describe('The rule’s @id, or its place.'),
        effect: z.enum(['permit', 'forbid']).describe('What it does.'),
        message: z.string().optional().describe('Its words for people.'),
      }),
    )
    .describe('The rules of the text.'),
  impact: Impact.optional().describe('On a dry run: what would change.'),
});

/** A Policy as the server holds it. */
export type PolicyObject = KindObject<z.infer<typeof PolicySpec>, z.infer<typeof PolicyStatus>>;

/**
 * The policy in force, or one that was: numbered in order, never changed; the newest is in force
 * (docs/design/api.md#policy).
 */
export const Policy = defineKind({
  kind: 'Policy',
  resource: 'policies',
  singular: 'policy',
  shortNames: ['pol'],
  nameSource: 'service',
  description: 'The policy in force, or one that was. Anyone may read it.',
  verbs: ['get', 'list', 'watch', 'create'],
  spec: PolicySpec,
  status: PolicyStatus,
  columns: {
    'In-Force': ({ status }) => status.inForce,
    Rules: ({ status }) => status.rules.length,
    Author: { wide: ({ status }) => status.author ?? '' },
  },
  strategy: {
    /** Anyone may read the policy; who wrote it is the operators' business. */
    status({ status }, { caller }) {
      if (!isOperator(caller)) delete status.author;
    },
  },
  create: {
    dryRun: true,
    /**
     * Checks the text before any transaction, supersedes in one commit, and answers once this
     * replica judges by it.
     */
    async run(call, { spec, metadata }): Promise<PolicyObject> {
      const checked = await call.ports.policy.check(spec.cedar);
      if ('faults' in checked) throw invalid(Policy, '', causesOf(checked.faults));
      const made = await call.change((tx) =>
        enact(tx, call, { spec, rules: checked.rules, metadata }),
      );
      if (call.dryRun) made.status.impact = await call.ports.policy.replay(spec.cedar);
      else await call.ports.policy.inForce(made, checked.warnings);
      return made;
    },
  },
});

/** What is to be put in force; its text was checked. */
interface Enacted {
  readonly spec: z.infer<typeof PolicySpec>;
  readonly rules: readonly RuleSummary[];
  readonly metadata?: Pick<
    Metadata,
    'labels' | 'annotations'
  > /** Hash of a manifest's text, remembered. */;
  readonly manifest?: string;
}

/** Which policy is the newest, and the text last loaded from a manifest: what creators race for. */
interface Newest {
  readonly number: number;
  readonly manifest?: string;
}

const newestKey = 'meta/policy';

/** The name of a policy by its number, and back. */
export const policyName = (number: number): string => `p-${number}`;
export const policyNumber = (name: string): number => Number(name.slice(2));

/** SHA-256 of a text, in hex. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Which policy is the newest, in this transaction; nothing where there is none yet. */
export async function newestPolicy(tx: Pick<Transaction, 'read'>): Promise<Newest | undefined> {
  const held = await tx.read(newestKey);
  return held && (JSON.parse(held.value.toString()) as Newest);
}

/**
 * Puts a checked text in force under the next number and supersedes the one before, in one commit:
 * of several at once each gets a number of its own.
 */
export async function enact(
  tx: Transaction,
  call: Pick<Call, 'now' | 'caller' | 'dryRun'>,
  { spec, rules, metadata = {}, manifest }: Enacted,
): Promise<PolicyObject> {
  const newest = await newestPolicy(tx);
  const number = (newest?.number ?? 0) + 1;
  const now = toTimestamp(call.now);
  if (newest)
    await tx.update(Policy, policyName(newest.number), ({ status }) => {
      status.inForce = false;
      status.supersededTimestamp = now;
    });
  const loaded = manifest ?? newest?.manifest;
  tx.write(newestKey, Buffer.from(JSON.stringify({ number, ...(loaded && { manifest: loaded }) })));
  const taken = call.dryRun ? undefined : await tx.get(Policy, policyName(number));
  if (taken) return taken; // another came in between the two reads: this commit is lost at the newest, and made again
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
