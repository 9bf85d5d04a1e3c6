/**
 * A set of rules as a service that has grown would have: ten that say who may do what, the rest
 * about single Clients, groups and kinds, spread over what is asked.
 */
export function policyText(count: number, always: boolean): string {
  const when = always ? ' && context.now > datetime("2020-01-01")' : '';
  const rules = [
    'permit (principal, action in [Action::"discovery", Action::"health", Action::"page", Action::"asset", Action::"provider"], resource) when { true%W };',
    'permit (principal, action == Action::"share", resource) when { true%W };',
    'permit (principal, action == Action::"signIn", resource) when { true%W };',
    'permit (principal, action == Action::"signUp", resource) when { true%W };',
    'permit (principal is Account, action in Action::"read", resource is Session) when { resource.owner == principal%W };',
    'permit (principal is Account, action == Action::"delete", resource is Session) when { resource.owner == principal%W };',
    'permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch", Action::"patch"], resource is Account) when { resource.owner == principal%W };',
    'permit (principal is Account, action in Action::"read", resource is Grant) when { resource.owner == principal%W };',
    'permit (principal, action in Action::"read", resource is Account) when { principal in Group::"operators"%W };',
    'permit (principal, action in [Action::"read", Action::"write"], resource is Client) when { principal in Group::"operators"%W };',
  ];
  for (let i = 0; rules.length < count; i += 1) rules.push(extra(i));
  return rules
    .slice(0, count)
    .map((rule, i) => `@id("r${i}") ${rule.replace('%W', when)}`)
    .join('\n');
}

const kinds = ['Session', 'Account', 'Grant', 'Client', 'Interaction'];
const verbs = ['get', 'list', 'watch', 'delete'];
const scopes = [
  'profile',
  'email',
  'phone',
  'address',
  'groups',
  'payments',
  'calendar',
  'contacts',
  'files',
  'photos',
];

function extra(i: number): string {
  const group = `Group::"g${i % 40}"`;
  if (i % 5 === 0) {
    return `forbid (principal, action == Action::"share", resource == Scope::"${scopes[(i / 5) % 10]}") when { context has client && context.client == Client::"c${i % 50}"%W } unless { principal in ${group} };`;
  }
  if (i % 5 === 1) {
    return `forbid (principal, action == Action::"signIn", resource == Client::"c${i % 50}") when { !(principal in ${group})%W };`;
  }
  const about = `action == Action::"${verbs[i % 4]}", resource is ${kinds[(i >> 2) % 5]}`;
  return `permit (principal in ${group}, ${about}) when { context.domain == "d${i % 20}.test"%W };`;
}

/** One question of the mix, as a plain value that both sides are given. */
export interface Asking {
  readonly account: string;
  readonly domain: string;
  readonly groups: readonly string[];
  readonly action: string;
  readonly kind?: string;
  readonly name?: string;
  readonly scope?: string;
  readonly client?: string;
}

/**
 * Questions of a thousand people about fifty things each, those asked most by Zipf's law with
 * exponent 1.1; the same every time.
 */
export function mix(length: number): Asking[] {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const zipf = (most: number): (() => number) => {
    const sums: number[] = [];
    for (let i = 1, sum = 0; i <= most; i += 1) sums.push((sum += i ** -1.1));
    return () => {
      const at = next() * sums.at(-1)!;
      let [low, high] = [0, most - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sums[middle]! < at) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
  };
  const [person, thing] = [zipf(1000), zipf(50)];
  return Array.from({ length }, () => asking(person(), thing(), next()));
}

const held = new Map<number, readonly string[]>();

/**
 * The groups of a person, one list for as long as they stay the same: as the service's index hands
 * them out.
 */
function groupsOf(person: number): readonly string[] {
  let groups = held.get(person);
  if (!groups) {
    held.set(
      person,
      (groups = [
        `g${person % 40}`,
        ...(person % 7 === 0 ? [`g${(person * 3) % 40}`] : []),
        ...(person % 100 === 3 ? ['operators'] : []),
      ]),
    );
  }
  return groups;
}

function asking(person: number, thing: number, chance: number): Asking {
  const account = nameOf(person);
  const groups = groupsOf(person);
  const who = { account, domain: `d${person % 20}.test`, groups };
  if (chance < 0.15) {
    return { ...who, action: 'share', scope: scopes[thing % 10]!, client: `c${thing}` };
  }
  if (chance < 0.25) return { ...who, action: 'signIn', client: `c${thing}` };
  const kind = kinds[thing % 4]!;
  const owner = chance < 0.85 ? account : nameOf((person + thing) % 1000);
  const action = verbs[(thing >> 2) % 4]!;
  if (kind === 'Account') return { ...who, action, kind, name: owner };
  return { ...who, action, kind, name: kind === 'Client' ? `c${thing}` : `${owner}-${thing}` };
}

const letters = 'bcdfghjklmnpqrstvwxz';
const nameOf = (person: number): string =>
  Array.from({ length: 20 }, (_, i) => letters[(person >> (i % 10)) % 20])
    .join('')
    .slice(0, 16) +
  String(person)
    .padStart(4, '0')
    .replace(/\d/g, (digit) => letters[Number(digit)]!);
