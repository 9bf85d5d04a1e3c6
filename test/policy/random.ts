import type { KnownEntities } from '../../policy/model/authorization-request.js';
import type { Vocabulary } from '../../policy/model/vocabulary.js';
import type { AuthorizationAttributes, EntityFacts } from '../../registry/authorizer.js';
import type { Caller } from '../../registry/kind.js';
import { kinds } from './kinds.js';

const accounts = [
  'bcdfghjklmnpqrstvwxz',
  'cccccccccccccccccccc',
  'dddddddddddddddddddd',
  'ffffffffffffffffffff',
];
const groups = ['operators', 'staff', 'guests'];
const clusterGroups = ['system:masters', 'operators', 'staff'];
const machines = ['root', 'system:kube-controller-manager'];
const interactions = ['a'.repeat(32), 'b'.repeat(32)];
const clients = ['notes', 'board', 'vestibule-account'];
const domains = ['example.test', 'evil.test', 'staff.example.test', ''];
const methods = ['EmailCode', 'EmailLink', 'Passkey'];
const scopes = ['email', 'groups', 'profile'];
const sites = ['', 'same-origin', 'cross-site'];
const paths = ['/api', '/livez', '/account'];
const networks = ['10.0.0.7', '192.0.2.1', '2001:db8:1:2::/64'];
const acrs = ['urn:vestibule:acr:email', 'phr'];
const hosts = ['notes.example.test', 'board.test', ''];
const days = ['Monday', 'Saturday', 'Sunday'];
const start = Date.UTC(2026, 0, 1);

/** Facts about entities from a seed: some exist, and none changes while questions are asked. */
export function entitiesOf(chance: Chance): KnownEntities {
  const known = new Map<string, EntityFacts | null>();
  const make: Record<string, () => EntityFacts> = {
    Client: () => ({
      firstParty: chance.maybe(0.5),
      type: chance.of(['Public', 'Confidential']),
      host: chance.of(hosts),
      groups: chance.some(groups),
      conditions: chance.some(['Ready', 'PKCERequired']),
    }),
    Scope: () => ({
      sensitive: chance.maybe(0.5),
      provider: chance.of(['vestibule', 'bank']),
      audience: chance.of(['', 'billing']),
    }),
    AccessRequest: () => ({ group: chance.of(groups) }),
    Account: () => ({
      groups: chance.some(groups),
      created: start + chance.below(10 * 86_400) * 1000,
      passkeys: chance.below(3),
      emailDomain: chance.of(domains),
    }),
  };
  return {
    peek(type, id) {
      const key = `${type} ${id}`;
      if (!known.has(key)) known.set(key, chance.maybe(0.8) ? make[type]!() : null);
      return known.get(key);
    },
    ofObject: () => undefined,
  };
}

/** Chances from a seed, the same every time (mulberry32). */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
  some<T>(list: readonly T[]): T[] {
    return list.filter(() => this.next() < 0.5);
  }
  maybe(share: number): boolean {
    return this.next() < share;
  }
}

const entity = (type: string, id: string): string => `${type}::${JSON.stringify(id)}`;
const set = (parts: readonly string[]): string => `[${parts.join(', ')}]`;
const texts = (parts: readonly string[]): string => set(parts.map((part) => JSON.stringify(part)));

/**
 * Rules that use every feature the engine takes; some do not validate, which is for the caller to
 * find out.
 */
export class Rules {
  readonly #chance: Chance;
  readonly #vocabulary: Vocabulary;
  constructor(chance: Chance, vocabulary: Vocabulary) {
    this.#chance = chance;
    this.#vocabulary = vocabulary;
  }

  text(count: number): Map<string, string> {
    return new Map(Array.from({ length: count }, (_, i) => [`r${i}`, this.#rule(`r${i}`)]));
  }

  #rule(id: string): string {
    const c = this.#chance;
    const forbid = c.maybe(0.3);
    const conditions = Array.from(
      { length: c.of([0, 1, 1, 2]) },
      () => `${c.of(['when', 'when', 'unless'])} { ${this.#boolean(3)} }`,
    );
    return `@id("${id}")${forbid ? ` @message("no ${id}")` : ''} ${forbid ? 'forbid' : 'permit'} (${this.#principal()}, ${this.#action()}, ${this.#resource()}) ${conditions.join(' ')};`;
  }

  #someone(): string {
    const c = this.#chance;
    return c.of([
      () => entity('Account', c.of(accounts)),
      () => entity('ClusterUser', c.of(machines)),
      () => entity('Browser', c.of(interactions)),
    ])();
  }
  #group(): string {
    const c = this.#chance;
    return c.maybe(0.6)
      ? entity('Group', c.of(groups))
      : entity('ClusterGroup', c.of(clusterGroups));
  }
  #type(): string {
    return this.#chance.of(kinds).kind;
  }
  #object(): string {
    const c = this.#chance;
    return c.of([
      () => entity('Session', `${c.of(accounts)}-x`),
      () => entity('Account', c.of(accounts)),
      () => entity('Interaction', c.of(interactions)),
      () => entity('Client', c.of(clients)),
      () => entity('Scope', c.of(scopes)),
      () => entity('Path', c.of(paths)),
      () => entity('Policy', '*'),
    ])();
  }
  #actionName(): string {
    return entity('Action', this.#chance.of([...this.#vocabulary.actions.keys()]));
  }
  #actionOrGroup(): string {
    const c = this.#chance;
    return c.maybe(0.5)
      ? this.#actionName()
      : entity('Action', c.of([...this.#vocabulary.groups.keys()]));
  }

  #principal(): string {
    const c = this.#chance;
    return c.of([
      () => 'principal',
      () => 'principal',
      () =>
        `principal is ${c.of(['Account', 'Account', 'ClusterUser', 'Anonymous', 'Browser', 'Client'])}`,
      () => `principal == ${this.#someone()}`,
      () => `principal in ${this.#group()}`,
      () => `principal is Account in ${entity('Group', c.of(groups))}`,
      () => `principal in ${this.#someone()}`,
    ])();
  }

  #action(): string {
    const c = this.#chance;
    return c.of([
      () => 'action',
      () => 'action',
      () => 'action in Action::"read"',
      () => `action == ${this.#actionName()}`,
      () => `action in ${this.#actionOrGroup()}`,
      () => `action in ${set(Array.from({ length: 4 }, () => this.#actionOrGroup()))}`,
    ])();
  }

  #resource(): string {
    const c = this.#chance;
    return c.of([
      () => 'resource',
      () => 'resource',
      () => `resource is ${this.#type()}`,
      () => `resource is ${this.#type()}`,
      () => `resource == ${this.#object()}`,
      () => `resource in ${entity('Session', `${c.of(accounts)}-x`)}`,
    ])();
  }

  #boolean(depth: number): string {
    const c = this.#chance;
    if (depth === 0 || c.maybe(0.3)) return this.#atom();
    const deeper = (): string => this.#boolean(depth - 1);
    return c.of([
      () => `(${deeper()} && ${deeper()})`,
      () => `(${deeper()} || ${deeper()})`,
      () => `!(${deeper()})`,
      () => `(if ${deeper()} then ${deeper()} else ${deeper()})`,
      () => `(${deeper()} == ${deeper()})`,
      () => `(${deeper()} != ${deeper()})`,
      () => `(${deeper()} && ${deeper()} && ${deeper()} && ${deeper()})`,
    ])();
  }

  #atom(): string {
    return `(${this.#chance.of([this.#whoAtom, this.#whatAtom, this.#factAtom, this.#factAtom, this.#entityAtom, this.#oddAtom]).call(this)})`;
  }

  #whoAtom(): string {
    const c = this.#chance;
    return c.of([
      () => `principal in ${this.#group()}`,
      () => `principal in ${set([entity('Group', c.of(groups)), entity('Group', c.of(groups))])}`,
      () => `principal == ${this.#someone()}`,
      () => `${this.#someone()} != principal`,
      () => `principal is ${c.of(['Account', 'ClusterUser', 'Anonymous', 'Browser', 'Client'])}`,
      () => `principal is Account in ${entity('Group', c.of(groups))}`,
      () =>
        `(principal is Account && ${set([entity('Account', c.of(accounts)), entity('Account', c.of(accounts))])}.contains(principal))`,
      () => `(principal is Account && principal.owner == ${entity('Account', c.of(accounts))})`,
      () => 'principal has owner',
    ])();
  }

  #whatAtom(): string {
    const c = this.#chance;
    const type = c.of(['Session', 'Account', 'Grant', 'Passkey', 'PolicyDecision']);
    return c.of([
      () => `(resource is ${type} && resource.owner == principal)`,
      () => `(resource is ${type} && principal != resource.owner)`,
      () =>
        `(resource has owner && resource is ${type} && resource.owner == ${entity('Account', c.of([...accounts, '*']))})`,
      () => '(resource is Interaction && resource.browser == principal)',
      () =>
        `(resource is Interaction && principal is Browser && [principal].contains(resource.browser))`,
      () => `(resource is Account && principal is Account && resource == principal)`,
      () => `(resource is ${type} && resource.owner is Account)`,
      () =>
        `(resource is ${type} && [resource.owner, ${entity('Account', c.of(accounts))}].contains(resource.owner))`,
      () => `resource is ${this.#type()}`,
      () => `resource == ${this.#object()}`,
      () => `resource in ${this.#object()}`,
      () => `action == ${this.#actionName()}`,
      () => `${this.#actionName()} == action`,
      () => `action in ${this.#actionOrGroup()}`,
      () => `action in ${set([this.#actionOrGroup(), this.#actionOrGroup()])}`,
      () => `${set([this.#actionName(), this.#actionName()])}.contains(action)`,
    ])();
  }

  #factAtom(): string {
    const c = this.#chance;
    return c.of([
      () => `context.domain == ${JSON.stringify(c.of(domains))}`,
      () => `context.domain like "*${c.of(['.test', 'example*', ''])}"`,
      () => `${texts(c.some(domains).concat('x'))}.contains(context.domain)`,
      () => `context.methods.contains("${c.of(methods)}")`,
      () => `context.methods.containsAny(${texts([c.of(methods), c.of(methods)])})`,
      () => `context.methods.containsAll(${texts([c.of(methods)])})`,
      () => 'context.methods.isEmpty()',
      () => `(context has client && context.client == ${entity('Client', c.of(clients))})`,
      () =>
        `(context has client && ${set([entity('Client', c.of(clients)), entity('Client', c.of(clients))])}.contains(context.client))`,
      () => 'context has client',
      () => `(resource is Client && context has client && context.client == resource)`,
      () => '(context has client && context.client is Client)',
      () => `(context has method && context.method == "${c.of(methods)}")`,
      () => 'context.metadataOnly',
      () => `context.site == "${c.of(sites)}"`,
      () => `context.assurance like "urn:*"`,
      () => `context.site == context.domain`,
      () => `(context has passkeys && context.passkeys > ${c.below(3)})`,
      () => `(context has passkeys && context.passkeys == ${c.below(3)})`,
      () => 'context.operatorsHavePasskeys',
      () => 'context.signedInRecently',
      () => '(context.operatorsHaveFullPasskeys && context.signedInRecently)',
      () => `(!context.operatorsHavePasskeys || context.methods.contains("${c.of(methods)}"))`,
    ])();
  }

  /** Facts about the principal, the resource, its owner and the Client in the context. */
  #entityAtom(): string {
    const c = this.#chance;
    const type = c.of(['Session', 'Account', 'Grant', 'Passkey', 'PolicyDecision']);
    const account = c.of([
      ['principal is Account', 'principal'],
      ['resource is Account', 'resource'],
      [`resource is ${type}`, 'resource.owner'],
    ]);
    const client = c.of([
      ['resource is Client', 'resource'],
      ['context has client', 'context.client'],
    ]);
    const date = `datetime("2026-01-0${1 + c.below(9)}")`;
    const group = c.of(groups);
    return c.of([
      () => `(${account[0]} && ${account[1]}.groups.contains("${group}"))`,
      () => `(${account[0]} && ${account[1]}.created < ${date})`,
      () => `(${account[0]} && ${account[1]}.passkeys > ${c.below(3)})`,
      () => `(${account[0]} && ${account[1]}.emailDomain == ${JSON.stringify(c.of(domains))})`,
      () => `(${account[0]} && ${account[1]}.emailDomain like "*.test")`,
      () => `(${account[0]} && ${account[1]} in Group::"${group}")`,
      () => `(${account[0]} && ${account[1]} in [Group::"${group}", Group::"staff"])`,
      () =>
        `(principal is Account && resource is ${type} && principal.groups.containsAny(resource.owner.groups))`,
      () =>
        `(principal is Account && resource is Client && resource.groups.containsAny(principal.groups))`,
      () => `(${client[0]} && ${client[1]}.firstParty)`,
      () => `(${client[0]} && !${client[1]}.firstParty)`,
      () => `(${client[0]} && ${client[1]}.type == "Public")`,
      () => `(${client[0]} && ${client[1]}.host == ${JSON.stringify(c.of(hosts))})`,
      () => `(${client[0]} && ${client[1]}.groups.contains("${group}"))`,
      () => `(${client[0]} && ${client[1]}.conditions.containsAll(["Ready"]))`,
      () => '(resource is Scope && resource.sensitive)',
      () => `(resource is Scope && resource.provider == "${c.of(['bank', 'vestibule'])}")`,
      () => `(resource is Scope && resource.audience == "${c.of(['', 'billing'])}")`,
      () => `(resource is AccessRequest && resource.group == "${c.of(groups)}")`,
    ])();
  }

  /** Time, sums that overflow, and the types from outside the core. */
  #oddAtom(): string {
    const c = this.#chance;
    return c.of([
      () => `context.now ${c.of(['<', '>=', '>', '<='])} datetime("2026-01-0${1 + c.below(9)}")`,
      () => `context.now.toTime() < duration("${c.below(24)}h")`,
      () => `context.now.offset(duration("-1d")) > datetime("2026-01-03")`,
      () => `(context has signInAge && context.signInAge + ${c.below(100)} - 50 < ${c.below(900)})`,
      () =>
        `(context has signInAge && -context.signInAge * ${c.of(['2', '900000000000000 * 900000000000000'])} < 0)`,
      () => `context.now.toTime().toMilliseconds() * 900000000000 * 1000 > ${c.below(9)}`,
      () => `decimal("${c.below(9)}.5").lessThan(decimal("4.0"))`,
      () => `ip("10.0.0.${c.below(9)}").isInRange(ip("10.0.0.0/30"))`,
      () => `(context has network && context.network.isInRange(ip("10.0.0.0/8")))`,
      () => `(context has network && context.network == ip("${c.of(networks)}"))`,
      () => `(context has network && context.network.isIpv6())`,
      () => `context.timeOfDay ${c.of(['<', '>='])} duration("${c.below(24)}h30m")`,
      () => `context.weekday == "${c.of(days)}"`,
      () => `${texts(days)}.contains(context.weekday)`,
      () => 'context.newBrowser',
      () => `context.acrRequested == "${c.of(acrs)}"`,
      () => 'context.acrRequested like "urn:*"',
      () => `context.scopesRequested.containsAny(${texts([c.of(scopes), c.of(scopes)])})`,
      () => `"${c.of(domains)}" like "e*"`,
      () => `${c.below(9)} + 1 > 4`,
      () => c.of(['true', 'false']),
    ])();
  }
}

/** Questions of every form, over few enough names that they come again. */
export function question(chance: Chance, vocabulary: Vocabulary): AuthorizationAttributes {
  const c = chance;
  const facts = {
    ...(c.maybe(0.5) && { site: c.of(sites) }),
    ...(c.maybe(0.5) && { metadataOnly: c.maybe(0.5) }),
    ...(c.maybe(0.3) && { method: c.of(methods) }),
    ...(c.maybe(0.3) && { assurance: c.of(['urn:vestibule:acr:email', 'phr']) }),
    ...(c.maybe(0.3) && { passkeys: c.below(3) }),
    ...(c.maybe(0.2) && { operatorsHavePasskeys: c.maybe(0.5) }),
    ...(c.maybe(0.3) && { client: c.of(clients) }),
    ...(c.maybe(0.2) && { domain: c.of(domains) }),
    ...(c.maybe(0.5) && { network: c.of(networks) }),
    ...(c.maybe(0.3) && { newBrowser: c.maybe(0.5) }),
    ...(c.maybe(0.3) && { acrRequested: c.of(acrs) }),
    ...(c.maybe(0.3) && { scopesRequested: c.some(scopes) }),
    ...(c.maybe(0.3) && { created: start + c.below(10 * 86_400) * 1000 }),
  };
  const action = c.of([...vocabulary.actions.keys()]);
  const { groups: named, resources } = vocabulary.actions.get(action)!;
  const caller = someCaller(c);
  if (named.length === 0) {
    return {
      caller,
      action,
      facts: {
        ...facts,
        client: c.of(clients),
        scope: c.of(scopes),
        path: c.of(paths),
        account: c.of(accounts),
        ...(c.maybe(0.5) && { groups: c.some(groups) }),
      },
    };
  }
  const resource = c.of(resources);
  const kind = kinds.find((kind) => kind.kind === resource)!;
  const target = c.of([
    {},
    { name: nameIn(c, kind.kind) },
    { name: nameIn(c, kind.kind) },
    { name: nameIn(c, kind.kind) },
    kind.owner ? { owner: c.of(accounts) } : {},
  ]);
  return {
    caller,
    action,
    kind,
    ...target,
    facts,
    ...(c.maybe(0.3) && {
      object: {
        spec: { client: c.of(clients), scopes: c.some(scopes) },
        ...(c.maybe(0.5) && {
          internal: {
            ...(c.maybe(0.5) && { acrRequested: c.of(acrs) }),
            login: {
              method: c.of(methods),
              acr: 'phr',
              seconds: start / 1000,
              passkeys: c.below(3),
            },
          },
        }),
      } as unknown as NonNullable<AuthorizationAttributes['object']>,
    }),
  };
}

function nameIn(c: Chance, kind: string): string {
  if (kind === 'Interaction') return c.of(interactions);
  if (kind === 'Account') return c.of(accounts);
  if (kind === 'Client') return c.of(clients);
  return kind === 'Policy' ? 'p-1' : `${c.of(accounts)}-${c.of(['x', 'y-z'])}`;
}

function someCaller(c: Chance): Caller {
  return c.of<() => Caller>([
    () => ({ type: 'Anonymous' }),
    () => ({ type: 'Browser', interaction: c.of(interactions) }),
    () => ({ type: 'ClusterUser', user: c.of(machines), groups: c.some(clusterGroups) }),
    () => ({ type: 'Client', client: c.of(clients) }),
    ...Array.from(
      { length: 4 },
      () => (): Caller =>
        ({
          type: 'Account',
          account: c.of(accounts),
          email: `a@${c.of(['example.test', 'evil.test', 'staff.example.test'])}`,
          operator: false,
          groups: c.some(groups),
          ...(c.maybe(0.7) && {
            methods: c.some(methods),
            authenticated: start / 1000 + c.below(900),
            passkeys: c.below(3),
          }),
          ...(c.maybe(0.3) && {
            operatorsHavePasskeys: c.maybe(0.5),
            operatorsHaveFullPasskeys: c.maybe(0.5),
            recentUntil: start / 1000 + c.below(900),
          }),
        }) as Caller,
    ),
  ])();
}

/** A moment within ten days, whole seconds. */
export const moment = (c: Chance): number => start + c.below(10 * 86_400) * 1000;
