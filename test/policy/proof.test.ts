import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { type PolicyPromise, promises } from '../../policy/prove/promises.js';
import { attributesOf, type Proof, provePromises } from '../../policy/prove/prover.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { vestibule } from '../support/command.js';
import { stopAll, temporary } from '../support/service.js';
import { isQuick } from '../support/stores.js';

afterAll(stopAll);

const program = isQuick ? undefined : toolProgram('policy-prover');
const suite = program ? describe : describe.skip;

/**
 * Changes of a rule of the default policy, each of which breaks a promise: in the rule, the first text
 * is replaced by the second.
 */
const mutants: readonly (readonly [
  promise: string,
  rule: string,
  find: string,
  replace: string,
])[] = [
  ['sessions-are-private', 'own-sessions', 'when { resource.owner == principal }', ''],
  ['sessions-are-private', 'own-sessions', '==', '!='],
  [
    'sessions-are-private',
    'operators-sessions',
    'when { principal in Group::"operators" || principal in ClusterGroup::"system:masters" }',
    '',
  ],
  ['sessions-are-private', 'operators-sessions', 'Group::"operators"', 'Group::"staff"'],
  ['grants-are-private', 'own-grants', 'when { resource.owner == principal }', ''],
  ['grants-are-private', 'own-grants', 'resource.owner == principal', 'true'],
  [
    'grants-are-private',
    'operators-grants',
    'principal in Group::"operators" ||',
    'principal is Account ||',
  ],
  ['decisions-are-private', 'decisions-about-oneself', 'when { resource.owner == principal }', ''],
  [
    'decisions-are-private',
    'operators-decisions',
    'ClusterGroup::"system:masters"',
    'ClusterGroup::"system:authenticated"',
  ],
  ['passkeys-are-private', 'own-passkeys', 'when { resource.owner == principal }', ''],
  [
    'passkeys-are-private',
    'operators-passkeys',
    'Action::"delete"',
    'Action::"delete", Action::"patch"',
  ],
  ['passkeys-are-private', 'new-passkeys', 'principal is Account', 'principal'],
  ['accounts-are-private', 'own-account', 'when { resource.owner == principal }', ''],
  [
    'accounts-are-private',
    'operators-accounts',
    'Action::"accounts/recovery"',
    'Action::"accounts/recovery", Action::"accounts/email"',
  ],
  [
    'accounts-are-private',
    'operators-accounts',
    'Action::"accounts/disable"',
    'Action::"accounts/*"',
  ],
  [
    'accounts-are-managed-by-operators',
    'operators-accounts',
    'when { principal in Group::"operators" || principal in ClusterGroup::"system:masters" }',
    'when { principal is Account }',
  ],
  [
    'accounts-are-managed-by-operators',
    'own-account',
    'Action::"patch"',
    'Action::"accounts/enable", Action::"patch"',
  ],
  ['no-own-approval', 'someone-else-approves', 'forbid', 'permit'],
  ['no-own-approval', 'someone-else-approves', '== principal', '!= principal'],
  [
    'requests-are-decided-by-operators',
    'own-access-requests',
    'Action::"delete"',
    'Action::"accessrequests/deny"',
  ],
  [
    'requests-are-decided-by-operators',
    'operators-access-requests',
    'Group::"operators"',
    'Group::"leads"',
  ],
  ['operators-sign-in-again', 'operators-sign-in-again', 'context.signedInRecently &&', ''],
  ['operators-sign-in-again', 'operators-sign-in-again', 'Action::"change"', 'Action::"write"'],
  [
    'operators-sign-in-again',
    'operators-sign-in-again',
    'context.methods.contains("Passkey")',
    'true',
  ],
  ['operators-sign-in-again', 'operators-sign-in-again', 'resource.owner == principal', 'true'],
  [
    'operators-sign-in-again',
    'operators-sign-in-again',
    'resource is MockMessage',
    'resource is Policy',
  ],
  [
    'full-passkeys-only',
    'operators-sign-in-again',
    'context.assurance == "phr"',
    'context.methods.contains("Passkey")',
  ],
  ['full-passkeys-only', 'operators-sign-in-again', 'forbid', 'permit'],
  [
    'anonymous-changes-nothing',
    'anyone-empties-the-mock-mailbox',
    'resource is MockMessage',
    'resource',
  ],
  ['anonymous-changes-nothing', 'new-access-requests', 'principal is Account', 'principal'],
  [
    'browsers-keep-to-their-sign-in',
    'own-interaction',
    'when { resource.browser == principal }',
    '',
  ],
  ['browsers-keep-to-their-sign-in', 'own-interaction', '==', '!='],
  [
    'browsers-keep-to-their-sign-in',
    'recoveries-stopped-by-mail',
    'Action::"recoveries/cancel"',
    'Action::"delete"',
  ],
  ['clients-change-nothing', 'people-see-claims-providers', 'principal is Account', 'principal'],
  [
    'cluster-users-change-nothing',
    'operators-groups',
    'principal in ClusterGroup::"system:masters"',
    'principal is ClusterUser',
  ],
  [
    'cluster-users-change-nothing',
    'cluster-garbage-collector',
    'principal == ClusterUser::"system:kube-controller-manager"',
    'true',
  ],
  ['collectors-see-metadata', 'cluster-garbage-collector', 'context.metadataOnly && ', ''],
  [
    'collectors-see-metadata',
    'cluster-garbage-collector',
    'then resource is Session',
    'then resource is Client || resource is Session',
  ],
  [
    'only-operators-change-policy',
    'operators-policies',
    'when { principal in Group::"operators" || principal in ClusterGroup::"system:masters" }',
    '',
  ],
  ['only-operators-change-group', 'operators-groups', 'Group::"operators"', 'Group::"leads"'],
  [
    'only-operators-change-client',
    'operators-clients',
    'when { principal in Group::"operators" || principal in ClusterGroup::"system:masters" }',
    'when { principal is Account }',
  ],
  [
    'only-operators-change-appearance',
    'anyone-reads-the-appearance',
    'Action::"get"',
    'Action::"patch"',
  ],
  ['only-operators-invite', 'first-operator', 'Action::"invitations/accept"', 'Action::"create"'],
  [
    'groups-are-read-by-operators',
    'operators-groups',
    'when { principal in Group::"operators" || principal in ClusterGroup::"system:masters" }',
    'when { principal is Account }',
  ],
  ['policies-are-public', 'anyone-reads-policies', 'Action::"list", ', ''],
  ['discovery-is-public', 'open', 'Action::"health", ', ''],
  ['own-account', 'own-account', '==', '!='],
  ['own-sessions', 'own-sessions', 'Action::"delete", ', ''],
  ['own-sign-in', 'own-interaction', 'Action::"interactions/*"', 'Action::"interactions/login"'],
];

/** Returns a policy with a change of one rule. */
function mutated(text: string, rule: string, find: string, replace: string): string {
  const start = text.indexOf(`@id("${rule}")`);
  const end = text.indexOf(';', start) + 1;
  const changed = text.slice(start, end).replace(find, () => replace);
  return text.slice(0, start) + changed + text.slice(end);
}

suite('the default policy', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(kinds, actions);
  });
  const prove = (text: string, chosen: readonly PolicyPromise[]): Promise<Proof[]> =>
    provePromises(program!, { schema: engine.schema, text }, chosen);

  test('keeps every promise', async () => {
    const proofs = await prove(engine.defaultText, promises);
    expect(proofs.map(({ id }) => id).sort()).toEqual(promises.map(({ id }) => id).sort());
    for (const { id, environments, counterexample } of proofs) {
      expect({ id, counterexample }).toEqual({ id, counterexample: null });
      expect(environments).toBeGreaterThan(500);
    }
  });

  test.each(mutants)('no longer keeps %s if in %s %s is %s', async (id, rule, find, replace) => {
    const promise = promises.find((promise) => promise.id === id)!;
    const text = mutated(engine.defaultText, rule, find, replace);
    expect(text).not.toBe(engine.defaultText);
    const [proof] = await prove(text, [promise]);
    expect(proof!.counterexample).not.toBeNull();
    await engine.activate('p-1', `${text}\n${promise.withRules ?? ''}`);
    const { allowed } = engine.decide(attributesOf(proof!.counterexample!, kinds));
    expect(allowed).toBe(promise.kind === 'never');
  });

  test('is proved by the command, which names what a text breaks', async () => {
    const environment = { VESTIBULE_POLICY_PROVER: program! };
    const whole = await vestibule(['policy', 'prove'], environment);
    expect([whole.code, whole.error]).toEqual([0, '']);
    expect(whole.out).toContain(`${promises.length} of ${promises.length} promises are kept`);
    const file = join(temporary(), 'policy.cedar');
    writeFileSync(file, mutated(engine.defaultText, 'own-sessions', '==', '!='));
    const broken = await vestibule(['policy', 'prove', file], environment);
    expect(broken.code).toBe(1);
    expect(broken.out).toMatch(/^BROKEN {2}sessions-are-private /m);
    expect(broken.out).toMatch(/for example: Account::.* may .* Session::/);
  });
});
