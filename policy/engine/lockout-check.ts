import { isIP } from 'node:net';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { group, servedVersions } from '../../kinds/api-version.js';
import type { Operator } from '../../kinds/people/group/operator.js';
import { authenticationClaims } from '../../kinds/people/session/acr.js';
import type { Method } from '../../kinds/people/session/session.js';
import type { PolicyFault } from '../../kinds/policy/fault.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import { keysOf } from '../../registry/schema/typed-entries.js';
import { dayMs, hourMs } from '../../registry/schema/units.js';
import type { PolicyEvaluator } from '../evaluate/evaluator.js';
import type { UnknownValue } from '../evaluate/unknowns.js';
import { AuthorizationRequest, type DecisionEnvironment } from '../model/authorization-request.js';

const samplePerson: Caller = {
  type: 'Account',
  account: 'bcdfghjklmnpqrstvwxz',
  email: '',
  operator: false,
};

const interaction = 'a'.repeat(32);

const sampleCallers: readonly Caller[] = [
  { type: 'Anonymous' },
  { type: 'Browser', interaction },
  samplePerson,
  { type: 'ClusterUser', user: 'person', groups: [] },
  { type: 'Client', client: 'some-client' },
];

const publicPaths: Readonly<Record<string, readonly string[]>> = {
  discovery: [
    '/api',
    '/api/openapi/v3',
    '/apis',
    `/apis/${group}`,
    '/openapi/v3',
    '/openapi/v2',
    '/version',
    ...servedVersions.flatMap((version) => [
      `/api/${version}`,
      `/api/${version}/policyschema`,
      `/apis/${group}/${version}`,
      `/apis/${group}/${version}/policyschema`,
      `/openapi/v3/apis/${group}/${version}`,
    ]),
  ],
  health: ['/livez', '/readyz', '/healthz'],
};

const challengeSubresources: Readonly<Record<Method, string>> = {
  EmailCode: 'emailchallenge',
  EmailLink: 'emailchallenge',
  Passkey: 'passkeychallenge',
};

const fetchSites = ['', 'same-origin', 'same-site', 'cross-site', 'none'];

/** Represents all operators while none is known. */
const unknownOperator: Operator = { domain: 'example.test', groups: ['operators'] };

/**
 * Yields requests that must be permitted to everyone: discovery, health, and reading policies in
 * every form, including every policy that a rule names.
 */
function* publicRequests(
  evaluator: PolicyEvaluator,
  policy: AnyKind | undefined,
): Generator<[string, AuthorizationAttributes]> {
  for (const [action, paths] of Object.entries(publicPaths)) {
    for (const path of [...paths, ...evaluator.entityIds('Path')]) {
      for (const site of fetchSites) {
        yield [action, { caller: sampleCallers[0]!, action, facts: { path, site } }];
      }
    }
  }
  if (!policy) return;
  const policyReads = function* (
    caller: Caller,
    site: string,
    facts: object = {},
  ): Generator<[string, AuthorizationAttributes]> {
    for (const action of ['get', 'list', 'watch']) {
      for (const metadataOnly of [false, true]) {
        for (const name of [undefined, 'p-1', ...evaluator.entityIds('Policy')]) {
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
        }
      }
    }
  };
  for (const caller of sampleCallers) {
    for (const site of fetchSites) yield* policyReads(caller, site);
  }
  for (const [caller, facts] of distinctPeople(evaluator)) {
    yield* policyReads(caller, 'same-origin', facts);
  }
}

/**
 * Yields people that the rules could distinguish, one property at a time: accounts, groups,
 * domains, and sign-in methods.
 */
function* distinctPeople(evaluator: PolicyEvaluator): Generator<[Caller, object]> {
  const groups = evaluator.entityIds('Group');
  const as = (properties: object, facts: object = {}): [Caller, object] => [
    { ...samplePerson, ...properties },
    facts,
  ];
  for (const account of evaluator.entityIds('Account')) yield as({ account });
  for (const group of groups) yield as({ groups: [group] });
  if (groups.length > 1) yield as({ groups });
  for (const text of evaluator.stringLiterals) {
    yield as({ email: `person@${text}` }, { domain: text });
  }
  for (const method of keysOf(challengeSubresources)) {
    yield as({
      methods: [method],
      assurance: authenticationClaims(method).acr,
      authenticated: Math.floor(Date.now() / 1000),
    });
  }
}

/**
 * The largest number of policies and paths that rules may name, since each adds requests to check.
 */
const maxNamed = 20;

const noFacts = 'the rules about it must not depend on facts about accounts or networks';

/** Facts that the samples do not vary; what must be open to anyone may not depend on them. */
const unsampledFacts = new Set(['network', 'has network', 'newBrowser']);

const isUnsampled = ({ name, entity }: UnknownValue): boolean =>
  entity !== undefined || unsampledFacts.has(name);

/**
 * Returns faults if a policy would deny public requests, or would leave no operator able to create
 * another policy.
 */
export async function checkLockout(
  evaluator: PolicyEvaluator,
  kinds: readonly AnyKind[],
  operators: readonly Operator[],
  environment: DecisionEnvironment,
): Promise<PolicyFault[]> {
  const policy = kinds.find(({ kind }) => kind === 'Policy');
  if (evaluator.entityIds('Policy').length + evaluator.entityIds('Path').length > maxNamed) {
    return [{ message: `at most ${maxNamed} policies and paths may be named` }];
  }
  let requestCount = 0;
  for (const [description, attributes] of publicRequests(evaluator, policy)) {
    if (++requestCount % 10 === 0) await yieldToEventLoop();
    const request = new AuthorizationRequest(attributes, environment);
    if (evaluator.slice(request).unknowns.some(isUnsampled)) {
      return [
        {
          message: `${description} must be open to anyone: ${noFacts}`,
        },
      ];
    }
    if (evaluator.isTimeDependent(request)) {
      return [
        {
          message: `${description} must be open to anyone at all times: the rules about it must not depend on the time`,
        },
      ];
    }
    if (!evaluator.decide(request).allowed) {
      return [
        { message: `${description} must be open to anyone: ${explainDenial(evaluator, request)}` },
      ];
    }
  }
  if (!policy || (await canOperatorsSignIn(evaluator, kinds, policy, operators, environment))) {
    return [];
  }
  return [
    {
      message:
        'no operator could create policies: at least one member of Group "operators" must be able to sign in and to create policies',
    },
  ];
}

const explainDenial = (evaluator: PolicyEvaluator, request: AuthorizationRequest): string => {
  const [reason] = evaluator.decide(request).reasons;
  return reason!.rule === 'default'
    ? 'no rule permits it'
    : `rule ${JSON.stringify(reason!.rule)} denies it`;
};

/** One way for an operator to sign in. */
interface SignInPath {
  readonly operator: Operator;
  readonly operatorsHavePasskeys: boolean;
  readonly method: Method;
  readonly site: string;
  readonly network: string;
}

/** A network that no rule names (RFC 5737). */
const anyNetwork = '203.0.113.1';

/** The largest number of networks that are tried. */
const maxNetworks = 10;

/** Returns networks that the rules can distinguish: those that they name, and another one. */
const networksIn = ({ stringLiterals }: PolicyEvaluator): string[] => [
  anyNetwork,
  ...stringLiterals
    .filter((text) => isIP(text.split('/')[0]!) !== 0 && /^[^/]+(\/\d{1,3})?$/.test(text))
    .slice(0, maxNetworks),
];

/**
 * Returns whether some operator can sign in and create a policy, both today and in ten years, since
 * rules may expire or be limited to times of day.
 */
async function canOperatorsSignIn(
  evaluator: PolicyEvaluator,
  kinds: readonly AnyKind[],
  policy: AnyKind,
  operators: readonly Operator[],
  environment: DecisionEnvironment,
): Promise<boolean> {
  const paths = signInPaths(
    kinds,
    operators,
    distinguishableOperators(evaluator, operators),
    networksIn(evaluator),
  );
  const canSignInOn = async (day: number): Promise<boolean> => {
    for (let time = day; time < day + dayMs; time += 3 * hourMs) {
      for (const path of paths) {
        await yieldToEventLoop();
        const requests = signInRequests(kinds, policy, path, time);
        if (
          requests.every(
            (attributes) =>
              evaluator.decide(
                new AuthorizationRequest(attributes, { ...environment, timeMs: time }),
              ).allowed,
          )
        ) {
          return true;
        }
      }
    }
    return false;
  };
  return (await canSignInOn(Date.now())) && canSignInOn(Date.now() + 3652 * dayMs);
}

/** Returns every sign-in path of `subset`, a part of the operators. */
function signInPaths(
  kinds: readonly AnyKind[],
  operators: readonly Operator[],
  subset: readonly Operator[],
  networks: readonly string[],
): SignInPath[] {
  const operatorsHavePasskeys = operators.some(({ hasPasskey }) => hasPasskey);
  const hasPasskeys = kinds.some(({ kind }) => kind === 'Passkey');
  return subset.flatMap((operator) =>
    keysOf(challengeSubresources)
      .filter((method) => method !== 'Passkey' || (hasPasskeys && operator.hasPasskey))
      .flatMap((method) =>
        fetchSites
          .slice(0, 2)
          .flatMap((site) =>
            networks.map((network) => ({ operator, operatorsHavePasskeys, method, site, network })),
          ),
      ),
  );
}

/** Returns operators that the rules can distinguish; accounts differ only if a rule names one. */
function distinguishableOperators(
  evaluator: PolicyEvaluator,
  operators: readonly Operator[],
): readonly Operator[] {
  if (operators.length === 0) return [unknownOperator];
  const named = new Set(evaluator.entityIds('Account'));
  const byProperties = new Map(
    operators.map((operator): [string, Operator] => [
      JSON.stringify([
        operator.domain,
        operator.groups,
        operator.isNew ?? false,
        operator.hasPasskey ?? false,
        operator.created ?? 0,
        operator.account !== undefined && named.has(operator.account) ? operator.account : '',
      ]),
      operator,
    ]),
  );
  return [...byProperties.values()].slice(0, 200);
}

/** Returns the operator of a sign-in path as a person, with the facts of the sign-in. */
function personOf({ operator, method, operatorsHavePasskeys }: SignInPath, time: number) {
  const { domain, groups, account, hasPasskey, created = time } = operator;
  const facts = {
    domain,
    groups,
    passkeys: hasPasskey ? 1 : 0,
    created,
    methods: [method],
    assurance: authenticationClaims(method).acr,
    authenticated: Math.floor(time / 1000),
  };
  const caller = {
    ...samplePerson,
    ...(account !== undefined && { account }),
    email: `operator@${domain}`,
    operator: true,
    operatorsHavePasskeys,
    operatorsHaveFullPasskeys: operatorsHavePasskeys,
    ...facts,
  };
  return { caller, facts };
}

/** Returns the requests of an operator's sign-in and of creating a policy. */
function signInRequests(
  kinds: readonly AnyKind[],
  policy: AnyKind,
  path: SignInPath,
  time: number,
): AuthorizationAttributes[] {
  const { operator, method, site, network } = path;
  const kind = kinds.find(({ heldBy }) => heldBy);
  const browser: Caller = { type: 'Browser', interaction };
  const { caller, facts: person } = personOf(path, time);
  const origin = { site, network };
  const facts = {
    client: 'vestibule-account',
    scopesRequested: ['openid'],
    newBrowser: true,
    ...origin,
    ...person,
  };
  const interactionRequests = (action: string, extraFacts = {}): AuthorizationAttributes[] =>
    kind
      ? [{ caller: browser, action, kind, name: interaction, facts: { ...origin, ...extraFacts } }]
      : [];
  return [
    ...['/oauth2/auth', `/oauth2/auth/${'a'.repeat(43)}`].map(
      (endpoint): AuthorizationAttributes => ({
        caller: browser,
        action: 'provider',
        facts: { path: endpoint, ...origin },
      }),
    ),
    ...interactionRequests('get'),
    ...interactionRequests(`${kind?.resource}/${challengeSubresources[method]}`),
    ...interactionRequests(`${kind?.resource}/login`),
    ...interactionRequests(`${kind?.resource}/login`, { method }),
    ...(operator.isNew ? [{ caller: browser, action: 'signUp', facts }] : []),
    { caller, action: 'signIn', facts },
    { caller, action: 'create', kind: policy, facts: { ...origin, signedInRecently: true } },
  ];
}
