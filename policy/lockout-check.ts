import type { AuthorizationAttributes } from '../registry/authorizer.js';
import type { AnyKind, Caller } from '../registry/kind.js';
import { claimsOf } from '../kinds/session/acr.js';
import type { Method } from '../kinds/session/session.js';
import { AuthorizationRequest } from './model/authorization-request.js';
import type { PolicyEvaluator } from './evaluate/evaluator.js';
import type { PolicyFault } from '../kinds/policy/fault.js';
import type { Operator } from '../kinds/group/operator.js';

const person: Caller = {
  type: 'Account',
  account: 'bcdfghjklmnpqrstvwxz',
  email: '',
  operator: false,
};

const interaction = 'a'.repeat(32);

const hour = 3_600_000;

const anyone: readonly Caller[] = [
  { type: 'Anonymous' },
  { type: 'Browser', interaction },
  person,
  { type: 'ClusterUser', user: 'person', groups: [] },
  { type: 'Client', client: 'some-client' },
];

const documents: Readonly<Record<string, readonly string[]>> = {
  discovery: [
    '/api',
    '/api/v1alpha1',
    '/api/openapi/v3',
    '/apis',
    '/apis/id.vestibule.org',
    '/apis/id.vestibule.org/v1alpha1',
    '/openapi/v3',
    '/openapi/v3/apis/id.vestibule.org/v1alpha1',
    '/openapi/v2',
    '/version',
  ],
  health: ['/livez', '/readyz', '/healthz'],
};

const challenges: Readonly<Record<Method, string>> = {
  EmailCode: 'emailchallenge',
  EmailLink: 'emailchallenge',
  Passkey: 'passkeychallenge',
};

const sites = ['', 'same-origin', 'same-site', 'cross-site', 'none'];

/** Stands for all operators while none is known. */
const unknown: Operator = { domain: 'example.test', groups: ['operators'] };

/**
 * What must stay open to anyone, whatever else is asked: discovery, health and, in each form, every
 * policy a rule might single out.
 */
function* publicQuestions(
  judge: PolicyEvaluator,
  policy: AnyKind | undefined,
): Generator<[string, AuthorizationAttributes]> {
  for (const [action, paths] of Object.entries(documents))
    for (const path of [...paths, ...judge.named('Path')])
      for (const site of sites)
        yield [action, { caller: anyone[0]!, action, facts: { path, site } }];
  if (!policy) return;
  const reading = function* (
    caller: Caller,
    site: string,
    facts: object = {},
  ): Generator<[string, AuthorizationAttributes]> {
    for (const action of ['get', 'list', 'watch'])
      for (const metadataOnly of [false, true])
        for (const name of [undefined, 'p-1', ...judge.named('Policy')])
          yield [
            'reading policies',
            {
              caller,
              action,
              kind: policy,
              ...(name !== undefined && { name }),
              facts: { site, metadataOnly, ...facts },
            },
          ];
  };
  for (const caller of anyone) for (const site of sites) yield* reading(caller, site);
  for (const [caller, facts] of people(judge)) yield* reading(caller, 'same-origin', facts);
}

/**
 * People that the rules could tell apart, one look at a time: accounts, groups, domains, and how
 * they signed in.
 */
function* people(judge: PolicyEvaluator): Generator<[Caller, object]> {
  const groups = judge.named('Group');
  const as = (more: object, facts: object = {}): [Caller, object] => [
    { ...person, ...more } as Caller,
    facts,
  ];
  for (const account of judge.named('Account')) yield as({ account });
  for (const group of groups) yield as({ groups: [group] });
  if (groups.length > 1) yield as({ groups });
  for (const text of judge.texts) yield as({ email: `person@${text}` }, { domain: text });
  for (const method of Object.keys(challenges) as Method[])
    yield as({
      methods: [method],
      assurance: claimsOf(method).acr,
      authenticated: Math.floor(Date.now() / 1000),
    });
}

/** Rules may single out so many policies and paths: each is asked about. */
const max = 20;

/** Lets others have a turn. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/**
 * What a text would take from everybody: what is public, or every operator's way to another policy.
 */
export async function lockout(
  judge: PolicyEvaluator,
  kinds: readonly AnyKind[],
  operators: readonly Operator[],
): Promise<PolicyFault[]> {
  const policy = kinds.find(({ kind }) => kind === 'Policy');
  if (judge.named('Policy').length + judge.named('Path').length > max)
    return [{ message: `at most ${max} policies and paths may be singled out` }];
  let questions = 0;
  for (const [what, question] of publicQuestions(judge, policy)) {
    if (++questions % 10 === 0) await turn();
    const asked = new AuthorizationRequest(question);
    if (judge.moves(asked))
      return [
        {
          message: `${what} must be open to anyone at all times: what is asked of it may not depend on the time`,
        },
      ];
    if (!judge.decide(asked).allowed)
      return [{ message: `${what} must be open to anyone: ${ruling(judge, asked)}` }];
  }
  if (!policy || (await operatorsComeIn(judge, kinds, policy, operators))) return [];
  return [
    {
      message:
        'no operator could create policies any more: some member of Group "operators" must be able to sign in and to create policies',
    },
  ];
}

const ruling = (judge: PolicyEvaluator, asked: AuthorizationRequest): string => {
  const [reason] = judge.decide(asked).reasons;
  return reason!.rule === 'default'
    ? 'no rule permits it'
    : `rule ${JSON.stringify(reason!.rule)} decides otherwise`;
};

/** How an operator comes in. */
interface Way {
  readonly operator: Operator;
  readonly operatorsHavePasskeys: boolean;
  readonly method: Method;
  readonly site: string;
}

/**
 * Whether some operator has some way to sign in and create a policy, both today and in ten years:
 * rules may end, and know office hours.
 */
async function operatorsComeIn(
  judge: PolicyEvaluator,
  kinds: readonly AnyKind[],
  policy: AnyKind,
  operators: readonly Operator[],
): Promise<boolean> {
  const ways = waysIn(kinds, operators, distinct(judge, operators));
  const isOpen = async (day: number): Promise<boolean> => {
    for (let time = day; time < day + 24 * hour; time += 3 * hour)
      for (const way of ways) {
        await turn();
        const asked = steps(kinds, policy, way, time);
        if (asked.every((one) => judge.decide(new AuthorizationRequest(one, time)).allowed))
          return true;
      }
    return false;
  };
  return (await isOpen(Date.now())) && isOpen(Date.now() + 3652 * 24 * hour);
}

/** Every way that one of `some` of the operators may come in. */
function waysIn(
  kinds: readonly AnyKind[],
  operators: readonly Operator[],
  some: readonly Operator[],
): Way[] {
  const operatorsHavePasskeys = operators.some(({ hasPasskey }) => hasPasskey);
  const hasPasskeys = kinds.some(({ kind }) => kind === 'Passkey');
  return some.flatMap((operator) =>
    (Object.keys(challenges) as Method[])
      .filter((method) => method !== 'Passkey' || (hasPasskeys && operator.hasPasskey))
      .flatMap((method) =>
        sites.slice(0, 2).map((site) => ({ operator, operatorsHavePasskeys, method, site })),
      ),
  );
}

/** Operators that the rules can tell apart: an account counts only where a rule names it. */
function distinct(judge: PolicyEvaluator, operators: readonly Operator[]): readonly Operator[] {
  if (operators.length === 0) return [unknown];
  const named = new Set(judge.named('Account'));
  const byLooks = new Map(
    operators.map((one): [string, Operator] => [
      JSON.stringify([
        one.domain,
        one.groups,
        one.isNew ?? false,
        one.hasPasskey ?? false,
        one.account !== undefined && named.has(one.account) ? one.account : '',
      ]),
      one,
    ]),
  );
  return [...byLooks.values()].slice(0, 200);
}

/** What is asked on an operator's way in and to a new policy. */
function steps(
  kinds: readonly AnyKind[],
  policy: AnyKind,
  {
    operator: { domain, groups, account, isNew, hasPasskey },
    operatorsHavePasskeys,
    method,
    site,
  }: Way,
  time: number,
): AuthorizationAttributes[] {
  const kind = kinds.find(({ boundToCookie }) => boundToCookie);
  const browser: Caller = { type: 'Browser', interaction };
  const proof = {
    methods: [method],
    assurance: claimsOf(method).acr,
    authenticated: Math.floor(time / 1000),
  };
  const passkeys = hasPasskey ? 1 : 0;
  const caller = {
    ...person,
    ...(account !== undefined && { account }),
    email: `operator@${domain}`,
    operator: true,
    groups,
    passkeys,
    operatorsHavePasskeys,
    operatorsHaveFullPasskeys: operatorsHavePasskeys,
    ...proof,
  } as Caller;
  const facts = { client: 'vestibule-account', domain, groups, site, passkeys, ...proof };
  const ofOwn = (action: string, more = {}): AuthorizationAttributes[] =>
    kind ? [{ caller: browser, action, kind, name: interaction, facts: { site, ...more } }] : [];
  return [
    ...['/oauth2/auth', `/oauth2/auth/${'a'.repeat(43)}`].map(
      (path): AuthorizationAttributes => ({
        caller: browser,
        action: 'provider',
        facts: { path, site },
      }),
    ),
    ...ofOwn('get'),
    ...ofOwn(`${kind?.resource}/${challenges[method]}`),
    ...ofOwn(`${kind?.resource}/login`),
    ...ofOwn(`${kind?.resource}/login`, { method }),
    ...(isNew ? [{ caller: browser, action: 'signUp', facts }] : []),
    { caller, action: 'signIn', facts },
    { caller, action: 'create', kind: policy, facts: { site, signedInRecently: true } },
  ];
}
