import type { Policy, PolicyDecision } from '../../../ui/api.js';
import { inSeconds } from './interaction.js';

const beginning = `// The policy of this service. Every request is put to it, and what no rule permits is refused.
//
// Operators are the members of Group "operators".

// ---- Open to anyone, signed in or not ----

@id("open")
permit (
  principal,
  action in [Action::"discovery", Action::"health", Action::"page", Action::"asset", Action::"provider"],
  resource
);

@id("anyone-reads-policies")
permit (principal, action in [Action::"get", Action::"list", Action::"watch"], resource is Policy);

@id("any-scope-may-be-shared")
permit (principal, action == Action::"share", resource);

// What is mine is mine to see and to change.
@id("own-account")
permit (
  principal is Account,
  action in [Action::"get", Action::"patch", Action::"accounts/email"],
  resource is Account
)
when { resource.owner == principal };

@id("operators-policies")
permit (principal, action == Action::"create", resource is Policy)
when { principal in Group::"operators" };
`;

const groups = `
@id("groups-stay-here")
@message("Groups are shared only with services of our own.")
forbid (principal, action == Action::"share", resource == Scope::"groups")
unless { context.client == Client::"board" };
`;

const lantern = `
@id("lantern-emails")
@message("Lantern Notes does not need your address any more.")
forbid (principal, action == Action::"share", resource == Scope::"email")
when { context.client == Client::"lantern" };
`;

type Rules = Policy['status']['rules'];
const first: Rules = [
  'open',
  'anyone-reads-policies',
  'any-scope-may-be-shared',
  'own-account',
  'operators-policies',
].map((id) => ({ id, effect: 'permit' }));
const second: Rules = [
  ...first,
  {
    id: 'groups-stay-here',
    effect: 'forbid',
    message: 'Groups are shared only with services of our own.',
  },
];
const third: Rules = [
  ...second,
  {
    id: 'lantern-emails',
    effect: 'forbid',
    message: 'Lantern Notes does not need your address any more.',
  },
];

const version = 'id.vestibule.org/v1beta1' as const;
const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** A policy by its number, with the given changes. */
export function policy(
  number: number,
  cedar: string,
  rules: Rules,
  {
    spec = {},
    status = {},
  }: { spec?: Partial<Policy['spec']>; status?: Partial<Policy['status']> } = {},
): Policy {
  return {
    apiVersion: version,
    kind: 'Policy',
    metadata: {
      name: `p-${number}`,
      uid: `5f0d4a9e-2b0c-4d55-8a63-0000000000${10 + number}`,
      resourceVersion: String(600 + number),
      generation: 1,
      creationTimestamp: inSeconds(-86_400 * (9 - number)),
    },
    spec: { cedar, ...spec },
    status: {
      inForce: true,
      inForceSince: inSeconds(-86_400 * (9 - number)),
      author: 'vestibule',
      hash,
      rules,
      ...status,
    },
  };
}

/** The signed-in account, if any. */
export const me = 'bcdfghjklmnpqrstvwxz';

const over = (days: number): Partial<Policy['status']> => ({
  inForce: false,
  supersededTimestamp: inSeconds(-86_400 * days),
});

/** The default policy as the only one. */
export const one = (): Policy[] => [policy(1, beginning, first)];

/** Three policies, the third in force. */
export const three = (): Policy[] => [
  policy(1, beginning, first, { status: over(7) }),
  policy(2, beginning + groups, second, {
    spec: { description: 'Groups are for our own services.' },
    status: { author: 'hjklmnpqrstvwxzbcdfg', ...over(6) },
  }),
  policy(3, beginning.replace('"accounts/email"', '"update"') + groups + lantern, third, {
    spec: { description: 'Lantern Notes asked for less.' },
    status: { author: me },
  }),
];

/** A text in mode Shadow that is compared with the third policy, or was. */
export function trial(status: Partial<Policy['status']> = {}): Policy {
  const {
    metadata,
    spec,
    status: inForce,
  } = policy(8, beginning + groups, second, {
    spec: { description: 'Without Lantern Notes.', mode: 'Shadow' },
  });
  const { inForceSince: _, author: __, ...rest } = inForce;
  return {
    apiVersion: version,
    kind: 'Policy',
    metadata: { ...metadata, name: 's-1' },
    spec,
    status: { ...rest, inForce: false, ...status },
  };
}

/** A list of the API. */
export const list = (kind: string, items: object[]): object => ({
  apiVersion: version,
  kind: `${kind}List`,
  metadata: { resourceVersion: '700' },
  items,
});

/** A decision about the account, `minutes` ago. */
export function decision(
  minutes: number,
  spec: Partial<PolicyDecision['spec']>,
  status: Partial<PolicyDecision['status']> = {},
  name = `${me}-${minutes}`,
): PolicyDecision {
  const when = inSeconds(-60 * minutes);
  return {
    apiVersion: version,
    kind: 'PolicyDecision',
    metadata: {
      name,
      uid: '0b8a4a34-6b57-4bb0-93a5-7a2d4f0d3c11',
      resourceVersion: String(700 - minutes),
      generation: 1,
      creationTimestamp: when,
    },
    spec: {
      account: me,
      principal: `Account::"${me}"`,
      action: 'get',
      resource: { kind: 'Account' },
      policy: 'p-3',
      input: { caller: { type: 'Account', name: me }, facts: {} },
      ...(spec.scope ? { resource: undefined } : {}),
      ...spec,
    },
    status: {
      allowed: true,
      reasons: [{ rule: 'own-account', message: '' }],
      count: 1,
      firstTimestamp: when,
      lastTimestamp: when,
      ...status,
    },
  };
}
