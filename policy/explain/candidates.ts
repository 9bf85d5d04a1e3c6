import { Method } from '../../kinds/people/session/session.js';
import type { FactChange } from '../../kinds/policy/alternatives.js';
import { dayMs } from '../../registry/schema/units.js';
import type { AuthorizationRequest, DecisionEnvironment } from '../model/authorization-request.js';
import { localTime } from '../model/local-time.js';
import type { Literals } from './literals.js';
import { networkExamples } from './networks.js';
import { requestIn, type World, withFacts, withGroups, withSignIn } from './world.js';

/** A change of one fact, and how it changes a request. */
export interface Candidate {
  readonly change: FactChange;
  /** Of candidates with the same dimension, one at most is applied. */
  readonly dimension: string;
  /** Whether the first of a dimension that is enough makes the others superfluous. */
  readonly isRanked: boolean;
  apply(world: World): World;
}

/** What the rules compare facts with, and the names of the unknowns that they mention. */
export type Compared = Literals & { readonly mentioned: ReadonlySet<string> };

/** The largest number of times that are tried. */
const maxTimes = 60;

/** The largest number of passkeys that is tried. */
const maxPasskeys = 20;

/**
 * Returns the changes that rules may tell apart, in the order of what is easiest
 * for a person.
 */
export function candidatesFor(
  world: World,
  compared: Compared,
  environment: DecisionEnvironment,
): Candidate[] {
  const { principalType } = requestIn(world, environment);
  const isPerson = principalType === 'Account' || principalType === 'Browser';
  return [
    ...(isPerson ? signIns(world) : []),
    ...(isPerson ? ofPerson(world, compared) : []),
    ...networks(world, compared),
    ...(isPerson || principalType === 'ClusterUser' ? memberships(world, compared) : []),
    ...times(world, compared, environment),
  ];
}

function signIns(world: World): Candidate[] {
  const isSignedIn = requestIn(world, {}).fact('authenticated') !== undefined;
  const methods = (['Passkey', 'EmailCode', 'EmailLink'] as const satisfies readonly Method[]).map(
    (method) => ranked('SignIn', method, (world) => withSignIn(world, method)),
  );
  return isSignedIn
    ? [ranked('SignIn', 'Again', (world) => withSignIn(world, undefined)), ...methods]
    : methods;
}

function ofPerson(world: World, literals: Literals): Candidate[] {
  const request = requestIn(world, {});
  const counts = [0, 1, ...literals.numbers.flatMap((n) => [n - 1, n, n + 1])];
  const passkeys = [...new Set(counts)]
    .filter((n) => n >= 0 && n <= maxPasskeys)
    .sort((a, b) => a - b);
  return [
    ...(request.fact('newBrowser') === true
      ? [ranked('KnownBrowser', undefined, (world) => withFacts(world, { newBrowser: false }))]
      : []),
    ...(request.fact('passkeys') === undefined
      ? []
      : passkeys.map((n) =>
          ranked('Passkeys', String(n), (world) => withFacts(world, { passkeys: n })),
        )),
    ...(request.fact('invited') === true
      ? []
      : [ranked('Invitation', undefined, (world) => withFacts(world, { invited: true }))]),
    ...emailDomains(literals).map(({ value, domain }) =>
      any('EmailDomain', value, (world) => withFacts(world, { domain })),
    ),
  ];
}

/** Returns the domains that rules name, an example of each pattern, and one that no rule names. */
const emailDomains = ({ strings, patterns }: Literals) => [
  ...strings.filter(isDomain).map((domain) => ({ value: domain, domain })),
  ...patterns
    .map((pattern) => ({ value: pattern, domain: pattern.replaceAll('*', 'x') }))
    .filter(({ domain }) => isDomain(domain)),
  { value: undefined, domain: 'another.invalid' },
];

function networks(world: World, literals: Literals): Candidate[] {
  if (requestIn(world, {}).fact('network') === undefined) return [];
  return networkExamples(literals.networks).map(({ network, within }) =>
    any('Network', within, (world) => withFacts(world, { network })),
  );
}

/** Each group is a fact of its own. */
function memberships(world: World, { groups, strings }: Literals): Candidate[] {
  const present = requestIn(world, {}).groups;
  const named = new Set([...groups, ...strings.filter(isGroupName)]);
  return [...named].map((group) => {
    const isMember = present.includes(group);
    return {
      change: { fact: isMember ? 'NotInGroup' : 'Group', value: group },
      dimension: `Group ${group}`,
      isRanked: false,
      apply(world) {
        const current = requestIn(world, {}).groups;
        return withGroups(
          world,
          isMember ? current.filter((other) => other !== group) : [...current, group].sort(),
        );
      },
    };
  });
}

/**
 * The moments of the next eight days at which a comparison with a literal changes: of a time, of the
 * time of day, of the age of the account or the sign-in.
 */
function times(world: World, compared: Compared, environment: DecisionEnvironment): Candidate[] {
  const request = requestIn(world, environment);
  const anchors = anchorsOf(request, compared);
  const moments = anchors.flatMap(({ at, spans }) =>
    [0, ...spans].flatMap((span) => [at + span, at + span + 1, at + span + 1000]),
  );
  return [...new Set(moments)]
    .filter((moment) => moment > world.timeMs && moment <= maxTimeMs)
    .sort((a, b) => a - b)
    .slice(0, maxTimes)
    .map((timeMs) =>
      ranked('Time', new Date(timeMs).toISOString(), (world) => ({ ...world, timeMs })),
    );
}

/** A moment that the rules may count from, and the spans that they compare with, in milliseconds. */
interface Anchor {
  readonly at: number;
  readonly spans: readonly number[];
}

function anchorsOf(request: AuthorizationRequest, compared: Compared): Anchor[] {
  const { mentioned, durations, numbers } = compared;
  const number = (fact: string): number[] => {
    const value = request.fact(fact);
    return typeof value === 'number' ? [value] : [];
  };
  const anchors: Anchor[] = [];
  const add = (moments: readonly number[], spans: readonly number[]): void => {
    anchors.push(...moments.map((at) => ({ at, spans })));
  };
  if (mentioned.has('now')) add([...compared.times, ...number('created')], durations);
  if (mentioned.has('timeOfDay') || mentioned.has('weekday')) {
    const midnight = request.time - localTime(request).ms;
    add(
      Array.from({ length: 9 }, (_, day) => midnight + day * dayMs),
      durations,
    );
  }
  const seconds = (fact: string): number[] => number(fact).map((value) => value * 1000);
  if (mentioned.has('signInAge')) {
    add(
      seconds('authenticated'),
      numbers.map((value) => value * 1000),
    );
  }
  if (mentioned.has('signedInRecently')) add(seconds('recentUntil'), []);
  return anchors;
}

/** The end of the times that RFC 3339 can write. */
const maxTimeMs = Date.UTC(9999, 11, 31);

const isDomain = (text: string): boolean => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(text);
const isGroupName = (text: string): boolean => /^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$/.test(text);

type Fact = FactChange['fact'];
type Apply = Candidate['apply'];

const candidate = (fact: Fact, value: string | undefined, isRanked: boolean, apply: Apply) => ({
  change: { fact, ...(value !== undefined && { value }) },
  dimension: fact,
  isRanked,
  apply,
});
const ranked = (fact: Fact, value: string | undefined, apply: Apply): Candidate =>
  candidate(fact, value, true, apply);
const any = (fact: Fact, value: string | undefined, apply: Apply): Candidate =>
  candidate(fact, value, false, apply);
