import type { Question } from '../../registry/decision.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import { Asked } from './asked.js';
import type { Judge } from './judge.js';
import type { Fault } from './scan.js';

const person: Caller = { type: 'Account', account: 'bcdfghjklmnpqrstvwxz', email: '', operator: false };
const interaction = 'a'.repeat(32);
const anyone: readonly Caller[] = [{ type: 'Visitor' }, { type: 'Browser', interaction }, person, { type: 'Machine', user: 'somebody', groups: [] }, { type: 'Client', client: 'some-client' }];
const documents: Readonly<Record<string, readonly string[]>> = {
  discovery: ['/api', '/api/v1alpha1', '/api/openapi/v3', '/apis', '/apis/id.vestibule.org', '/apis/id.vestibule.org/v1alpha1', '/openapi/v3', '/openapi/v2', '/version'],
  health: ['/livez', '/readyz', '/healthz'],
};
const methods = ['EmailCode', 'EmailLink', 'Passkey'];
const sites = ['', 'same-origin', 'same-site', 'cross-site', 'none'];

/** What must stay open to anyone, whatever else is asked: discovery, health and, in each form, every policy a rule might single out. */
function* publicQuestions(judge: Judge, policy: AnyKind | undefined): Generator<[string, Question]> {
  for (const [action, paths] of Object.entries(documents)) for (const path of [...paths, ...judge.named('Path')]) for (const site of sites) yield [action, { caller: anyone[0]!, action, facts: { path, site } }];
  if (!policy) return;
  for (const caller of anyone) for (const action of ['get', 'list', 'watch']) for (const site of sites) for (const metadataOnly of [false, true]) {
    for (const name of [undefined, 'p-1', ...judge.named('Policy')]) yield ['reading policies', { caller, action, kind: policy, ...(name !== undefined && { name }), facts: { site, metadataOnly } }];
  }
}

/** Rules may single out so many policies and paths: each is asked about. */
const most = 20;

/** Lets others have a turn. */
const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) });

/** What a text would take from everybody: what is public, or every operator's way to another policy. */
export async function lockout(judge: Judge, kinds: readonly AnyKind[], operators: readonly string[]): Promise<Fault[]> {
  const policy = kinds.find(({ kind }) => kind === 'Policy');
  if (judge.named('Policy').length + judge.named('Path').length > most) return [{ message: `at most ${most} policies and paths may be singled out` }];
  let questions = 0;
  for (const [what, question] of publicQuestions(judge, policy)) {
    if (++questions % 10 === 0) await turn();
    const asked = new Asked(question);
    if (judge.part(asked).moves) return [{ message: `${what} must be open to anyone at all times: what is asked of it may not depend on the time` }];
    if (!judge.decide(asked).allowed) return [{ message: `${what} must be open to anyone: ${ruling(judge, asked)}` }];
  }
  if (!policy || await operatorWays(judge, kinds, policy, operators)) return [];
  return [{ message: 'no operator could create policies any more: some member of Group "operators" must be able to sign in and to create policies' }];
}

const ruling = (judge: Judge, asked: Asked): string => {
  const [reason] = judge.decide(asked).reasons;
  return reason!.rule === 'default' ? 'no rule permits it' : `rule ${JSON.stringify(reason!.rule)} decides otherwise`;
};

/** Whether some operator has some way to sign in and create a policy; where rules look at the time, at some hour of a week from now and of one in ten years. */
async function operatorWays(judge: Judge, kinds: readonly AnyKind[], policy: AnyKind, operators: readonly string[]): Promise<boolean> {
  const addresses = operators.length > 0 ? operators : ['operator@example.test'];
  const ways = addresses.flatMap((email) => methods.flatMap((method) => sites.slice(0, 2).map((site) => ({ email, method, site }))));
  const open = (time: number): boolean => ways.some((way) => steps(kinds, policy, way, time).every((question) => judge.decide(new Asked(question, time)).allowed));
  for (const hours of eras()) {
    let found = false;
    for (const time of hours) { if ((found = open(time))) break; await turn() }
    if (!found) return false;
  }
  return true;
}

/** Moments every three hours of two weeks, ten years apart. */
function eras(): number[][] {
  const [hour, week] = [3_600_000, 56];
  return [0, 3652 * 24 * hour].map((later) => Array.from({ length: week }, (_, i) => Date.now() + later + i * 3 * hour));
}

/** What is asked on an operator's way in and to a new policy. */
function steps(kinds: readonly AnyKind[], policy: AnyKind, { email, method, site }: { email: string; method: string; site: string }, time: number): Question[] {
  const kind = kinds.find(({ bound }) => bound);
  const browser: Caller = { type: 'Browser', interaction };
  const caller = { ...person, email, operator: true, methods: [method], authenticated: Math.floor(time / 1000) } as Caller;
  const signIn = { client: 'vestibule-account', domain: email.slice(email.lastIndexOf('@') + 1), site };
  return [
    { caller: browser, action: 'provider', facts: { path: '/oauth2/auth', site } },
    ...(kind ? [{ caller: browser, action: 'get', kind, name: interaction, facts: { site } }, { caller: browser, action: `${kind.resource}/login`, kind, name: interaction, facts: { method, site } }] : []),
    { caller, action: 'signIn', facts: signIn },
    { caller, action: 'create', kind: policy, facts: { site } },
  ];
}
