import {
  AccessRequest,
  type AccessRequestObject,
} from '../../kinds/access/accessrequest/access-request.js';
import { accessRequestFacts } from '../../kinds/access/accessrequest/policy-facts.js';
import { Audience, type AudienceObject } from '../../kinds/apps/audience/audience.js';
import { type AudienceScopeName, parseAudienceScopeID } from '../../kinds/apps/claims/scope-id.js';
import type { ScopeIndex } from '../../kinds/apps/claims/scope-index.js';
import { builtInClients, Client } from '../../kinds/apps/client/client.js';
import {
  type ClientFacts,
  clientFacts,
  documentFacts,
} from '../../kinds/apps/client/policy-facts.js';
import { Account } from '../../kinds/people/account/account.js';
import type { Memberships } from '../../kinds/people/group/membership-index.js';
import type { Operator } from '../../kinds/people/group/operator.js';
import { currentOperators } from '../../kinds/people/group/operators.js';
import { domainOf } from '../../kinds/signin/email-address.js';
import type { EntityFacts, LoadedEntities } from '../../registry/authorizer.js';
import { type EncodedObject, isLive, objectKey } from '../../registry/encoded-object.js';
import type { AnyKind, ObjectOf } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import type { Store } from '../../registry/store/store.js';
import type { KnownEntities } from './authorization-request.js';
import type { AccountFacts, ScopeFacts } from './entity-attributes.js';

/** Where facts about entities come from: null for one that does not exist. */
type Facts = EntityFacts | null;

/** An entity to load; with the object that a request makes of it. */
export type MissingEntity = readonly [type: string, id: string, object?: object];

/** The indexes that facts come from. */
interface EntityIndexes {
  readonly groups: Memberships;
  readonly scopeIndex: ScopeIndex;
}

/** Facts about Clients, scopes and Accounts for policy: from memory, or loaded from the store. */
export class EntitySource implements KnownEntities {
  readonly #store: Store;
  readonly #indexes: EntityIndexes;

  constructor(store: Store, indexes: EntityIndexes) {
    this.#store = store;
    this.#indexes = indexes;
  }

  /** Returns facts from memory, undefined if they must be loaded. */
  peek(type: string, id: string): Facts | undefined {
    if (type === 'Scope') return this.#scope(id);
    const kind = kindOf(type);
    if (kind === Client && builtInClients.has(id)) return this.#builtInClient(id);
    const described = kind === Client ? documentFacts(id) : undefined;
    if (described) return described;
    const cached = this.#store.watchCache.peek(objectKey(kind, id));
    if (!cached) return undefined;
    const object = liveObject(cached.stored);
    if (!object) return null;
    return this.ofObject(type, object);
  }

  /** Returns the facts of an object; undefined if they must be loaded. */
  ofObject(type: string, object: object): EntityFacts | undefined {
    if (type === Client.kind) return clientFacts(object as ClientObject);
    if (type === AccessRequest.kind) return accessRequestFacts(object as AccessRequestObject);
    if (type !== Account.kind) return undefined;
    const account = object as AccountObject;
    const groups = this.#indexes.groups.cachedGroupsOf(addressOf(account));
    return groups && accountFacts(account, groups);
  }

  /** The time zone of `timeOfDay` and `weekday` now. */
  get timeZone(): string {
    return this.#store.settings.policyTimeZone;
  }

  /** Returns who operates the service now. */
  operators(): Promise<Operator[]> {
    return currentOperators(this.#store, this.#indexes.groups);
  }

  /** Loads the facts about entities. */
  async load(missing: readonly MissingEntity[]): Promise<LoadedEntities> {
    const entries = await Promise.all(
      missing.map(
        async (reference): Promise<[string, Facts]> => [
          `${reference[0]} ${reference[1]}`,
          await this.#load(reference),
        ],
      ),
    );
    return new Map(entries);
  }

  async #load([type, id, outcome]: MissingEntity): Promise<Facts> {
    if (type === 'Scope') return this.#loadScope(id);
    const kind = kindOf(type);
    const object = outcome ?? liveObject(await this.#store.cached(kind, id));
    if (!object) return null;
    if (kind !== Account) return this.ofObject(type, object)!;
    const account = object as AccountObject;
    return accountFacts(account, await this.#indexes.groups.groupsOf(addressOf(account)));
  }

  /** Returns facts about a scope; undefined if its Audience must be loaded. */
  #scope(id: string): Facts | undefined {
    const scope = this.#indexes.scopeIndex.scopes.find((scope) => scope.name === id);
    if (scope) {
      return {
        sensitive: scope.sensitive,
        provider: scope.provider.name,
        audience: '',
      } satisfies ScopeFacts;
    }
    const parsed = parseAudienceScopeID(id);
    if (!parsed) return null;
    const cached = this.#store.watchCache.peek(objectKey(Audience, parsed.audience));
    return cached && audienceScopeFacts(parsed, liveObject(cached.stored));
  }

  async #loadScope(id: string): Promise<Facts> {
    const known = this.#scope(id);
    if (known !== undefined) return known;
    const parsed = parseAudienceScopeID(id)!;
    return audienceScopeFacts(
      parsed,
      liveObject(await this.#store.cached(Audience, parsed.audience)),
    );
  }

  #builtInClient(id: string): EntityFacts {
    return {
      firstParty: builtInClients.get(id)!.firstParty,
      type: 'Public',
      host: new URL(this.#store.settings.baseURL).hostname,
      groups: [],
      conditions: ['Ready'],
    } satisfies ClientFacts;
  }
}

const kindOf = (type: string): AnyKind =>
  [Client, AccessRequest].find(({ kind }) => kind === type) ?? Account;

type ClientObject = ObjectOf<typeof Client>;
type AccountObject = ObjectOf<typeof Account>;

const liveObject = (stored: EncodedObject | undefined): object | undefined =>
  stored && isLive(stored.entry, Date.now()) ? stored.object : undefined;

function audienceScopeFacts(
  { audience, scope }: AudienceScopeName,
  object: object | undefined,
): Facts {
  const found = (object as AudienceObject | undefined)?.spec.scopes.find(
    ({ name }) => name === scope,
  );
  if (!found) return null;
  return { sensitive: found.sensitive, provider: '', audience } satisfies ScopeFacts;
}

const addressOf = ({ status }: AccountObject): string => status.email.address;

function accountFacts(account: AccountObject, groups: readonly string[]): EntityFacts {
  const { metadata, status } = account;
  return {
    groups,
    created: fromTimestamp(metadata.creationTimestamp),
    passkeys: status.passkeys,
    emailDomain: domainOf(addressOf(account)),
  } satisfies AccountFacts;
}
