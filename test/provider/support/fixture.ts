import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Audience } from '../../../kinds/apps/audience/audience.js';
import { ClaimsProvider } from '../../../kinds/apps/claims/claims-provider.js';
import { ClaimsReview } from '../../../kinds/apps/claims/claims-review.js';
import { ScopeIndex } from '../../../kinds/apps/claims/scope-index.js';
import { Client } from '../../../kinds/apps/client/client.js';
import { Grant, grantName } from '../../../kinds/apps/grant.js';
import { Interaction, type InteractionObject } from '../../../kinds/interaction/interaction.js';
import { defaultLimits } from '../../../kinds/limits/limit-settings.js';
import { Account } from '../../../kinds/people/account/account.js';
import { Group } from '../../../kinds/people/group/group.js';
import { Memberships } from '../../../kinds/people/group/membership-index.js';
import { authenticationClaims } from '../../../kinds/people/session/acr.js';
import { type Method, Session } from '../../../kinds/people/session/session.js';
import { createLog } from '../../../observability/log.js';
import { cookieValue } from '../../../provider/context/cookies.js';
import {
  createIdentityProvider,
  type IdentityProvider,
  type ProviderDeps,
} from '../../../provider/provider.js';
import type { Authorizer } from '../../../registry/authorizer.js';
import { objectKey } from '../../../registry/encoded-object.js';
import type { Caller, Decision, Draft, ObjectOf, Ports, Settings } from '../../../registry/kind.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { Outbox } from '../../../registry/store/outbox.js';
import { Registry } from '../../../registry/store/registry.js';
import { Store } from '../../../registry/store/store.js';
import { WatchCache } from '../../../registry/watchcache/watch-cache.js';
import { Keys, type KeysFile } from '../../../security/keyring.js';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import { readEpoch } from '../../../storage/epoch.js';
import type { Storage } from '../../../storage/storage.js';
import { storeHoldsNone } from '../../support/secrets.js';

export type ClientObject = ObjectOf<typeof Client>;
export type AccountObject = ObjectOf<typeof Account>;

const keysFile = testKeys();

/** What a house is built with; everything has a default. */
export interface HouseOptions {
  storage?: Storage;
  keys?: KeysFile;
  authorize?: Authorizer['decideQuietly'];
  baseURL?: string;
  settings?: Partial<Settings>;
  scopeIndex?: ProviderDeps['indexes']['scopeIndex'];
  deps?: Partial<ProviderDeps>;
}

/** Counts what storage is asked for, except decisions that are written down in the background. */
export function counting(storage: Storage): Storage & { commits: number; reads: number } {
  const counted = {
    commits: 0,
    reads: 0,
    get: (key: string) => {
      counted.reads += 1;
      return storage.get(key);
    },
    list: storage.list.bind(storage),
    count: storage.count.bind(storage),
    watch: storage.watch.bind(storage),
    compact: storage.compact.bind(storage),
    close: storage.close.bind(storage),
    commit: (...args: Parameters<Storage['commit']>) => {
      if (
        !args[1].every((write) =>
          /^((objects|index)\/policydecisions|oidc\/client-report|limits)\//.test(
            'put' in write ? write.put : write.delete,
          ),
        )
      ) {
        counted.commits += 1;
      }
      return storage.commit(...args);
    },
  };
  return counted;
}

/** A store of its own in a folder of its own. */
export async function openStorage(): Promise<{
  storage: Storage;
  reopen(): Promise<Storage>;
  close(): Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-provider-'));
  let storage = await openEmbedded({ directory });
  return {
    get storage() {
      return storage;
    },
    async reopen() {
      await storage.close();
      return (storage = await openEmbedded({ directory }));
    },
    async close() {
      await storeHoldsNone(storage).finally(() => storage.close());
      await rm(directory, { recursive: true });
    },
  };
}

const permitted: Decision = { allowed: true, reasons: [] };

/** All requests of the tests come from one network. */
const unlimitedNetwork = {
  requestsPerNetwork: 1e6,
  signInBytesPerNetwork: 1e12,
  signInBytesInAll: 1e12,
};

/** No operator has a passkey here. */
const noOperators = {
  cachedFacts: () => ({ operatorsHavePasskeys: false, operatorsHaveFullPasskeys: false }),
  currentFacts: async () => ({ operatorsHavePasskeys: false, operatorsHaveFullPasskeys: false }),
};

/**
 * One instance of the provider on loopback, with as much of the rest of the server as a sign-in
 * needs.
 */
export class House {
  readonly storage: Storage;
  readonly store: Store;
  readonly keys: Keys;
  readonly identity: IdentityProvider;
  readonly baseURL: string;
  /** Where this very instance listens. */
  readonly address: string;
  readonly settings: Settings;
  readonly log: string[] = [];
  readonly #closers: (() => Promise<unknown>)[];

  private constructor(parts: {
    settings: Settings;
    storage: Storage;
    store: Store;
    keys: Keys;
    identity: IdentityProvider;
    baseURL: string;
    address: string;
    closers: (() => Promise<unknown>)[];
  }) {
    this.settings = parts.settings;
    this.storage = parts.storage;
    this.store = parts.store;
    this.keys = parts.keys;
    this.identity = parts.identity;
    this.baseURL = parts.baseURL;
    this.address = parts.address;
    this.#closers = parts.closers;
  }

  static async open(options: HouseOptions = {}): Promise<House> {
    const own = options.storage ? undefined : await openStorage();
    const storage = options.storage ?? own!.storage;
    const keys = new Keys(options.keys ?? keysFile);
    const house: { it?: House } = {};
    const server = createServer((request, response) => house.it!.#serve(request, response));
    server.keepAliveTimeout = 0; // no connection is ended in the moment in which fetch takes it again
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = `http://localhost:${(server.address() as AddressInfo).port}`;
    const baseURL = options.baseURL ?? address;
    const settings: Settings = {
      baseURL,
      component: 'vestibule',
      limitFactor: 1,
      limits: { ...defaultLimits, ...unlimitedNetwork },
      epoch: await readEpoch(storage),
      emailFrom: 'no-reply@example.test',
      operators: [],
      allowPrivateNetwork: [],
      mockMail: true,
      deviceAuthorization: true,
      nameFallback: 'LocalPart',
      allowPrivateHTTPRedirects: false,
      rpID: 'localhost',
      policyTimeZone: 'UTC',
      started: startedSettings,
      ...options.settings,
    };
    const log = createLog('silent');
    const kinds = [
      Interaction,
      Session,
      Account,
      Grant,
      Client,
      ClaimsProvider,
      Audience,
      ClaimsReview,
      Group,
    ];
    const watchCache = new WatchCache(storage, kinds, log);
    const authorizer = authorizerOf(options.authorize ?? (() => permitted));
    const store = new Store({
      storage,
      registry: new Registry(kinds, []),
      watchCache,
      keys,
      settings,
    });
    const outbox = new Outbox(store, keys, log);
    const groups = new Memberships(store, []);
    const scopeIndex = new ScopeIndex(store);
    const identity = createIdentityProvider({
      store,
      keys,
      authorizer,
      indexes: {
        groups,
        operatorPasskeys: noOperators,
        scopeIndex: options.scopeIndex ?? scopeIndex,
        appearance: { current: { spec: {}, mail: {}, stylesheet: undefined, assets: new Map() } },
      },
      sharedAssets: { stylesheet: '/assets/site.css', icon: '/assets/icon.svg' },
      log,
      outbox,
      ...options.deps,
    });
    store.connect({ authorizer, ports: () => identity.ports() as Ports });
    await watchCache.start();
    await groups.start();
    await scopeIndex.start();
    outbox.start();
    const closers = [
      () => closeServer(server),
      () => identity.settled(),
      () => outbox.stop(),
      async () => {
        groups.stop();
        scopeIndex.stop();
      },
      () => watchCache.stop(),
      ...(own ? [() => own.close()] : []),
    ];
    return (house.it = new House({
      settings,
      storage,
      store,
      keys,
      identity: identity,
      baseURL,
      address,
      closers,
    }));
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!.split('?')[0]!;
    if (path.startsWith('/oauth2/') || path.startsWith('/.well-known/') || !path.startsWith('/')) {
      return void this.identity.handle(request, response, 'network-of-tests', 'audit-id-of-tests');
    }
    const act = /^\/api\/v1beta1\/interactions\/([a-z2-7]+)\/(\w+)$/.exec(path);
    if (act) {
      return void this.#act(act[1]!, act[2]!, request, response).catch((error: Error) =>
        response.writeHead(500).end(error.stack),
      );
    }
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end(path);
  }

  /** What the person's pages would do, as transitions of our own. */
  async #act(
    name: string,
    action: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const query = new URL(request.url!, this.baseURL).searchParams;
    const before = (await this.store.reader(Interaction).get(name))!;
    const change = {
      login: () => this.#login(before, query),
      consent: () => this.#consent(before, query),
      cancel: () => this.#cancel(before),
      look: async () => before,
    }[action]!;
    const after = await change();
    const returnTo =
      after.internal.returnTo &&
      this.keys
        .open(objectKey(Interaction, name), Buffer.from(after.internal.returnTo, 'base64url'))
        .toString();
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ ...after, returnTo }));
  }

  #login(before: InteractionObject, query: URLSearchParams): Promise<InteractionObject> {
    const method = (query.get('method') ?? 'EmailCode') as Method;
    return this.store.change(this.store.systemCall(), (tx) =>
      tx.update(Interaction, before.metadata.name, ({ status, internal }) => {
        if (status.phase !== 'LoginRequired') throw new Error(`phase is ${status.phase}`);
        status.phase = 'Authenticated';
        internal.login = {
          account: query.get('account')!,
          method,
          seconds: Math.floor(Date.now() / 1000),
          milliseconds: Date.now(),
          passkeys: 0,
          acr: authenticationClaims(method).acr,
          amr: [...authenticationClaims(method).amr],
        };
      }),
    );
  }

  async #consent(before: InteractionObject, query: URLSearchParams): Promise<InteractionObject> {
    const scopes = query.getAll('scope');
    const { client, scopes: asked } = before.spec;
    const account = before.internal.account!;
    const name = grantName(account, client);
    const known = await this.store.reader(Client).get(client);
    return this.store.change(this.store.systemCall(), async (tx) => {
      const old = await tx.get(Grant, name);
      const internal = {
        decision: (old?.internal.decision ?? 0) + 1,
        rejected: asked.filter((scope) => !scopes.includes(scope)),
        clientUID: known?.metadata.uid ?? '',
        decided: Date.now(),
      };
      if (old) {
        await tx.update(Grant, name, (next) => {
          next.spec.scopes = scopes;
          next.internal = internal;
        });
      } else {
        await tx.create(Grant, {
          metadata: { name },
          spec: { scopes },
          status: {
            account,
            client: { name: client, displayName: client },
            grantedTimestamp: toTimestamp(Date.now()),
            disclosures: [],
          },
          internal,
        });
      }
      return tx.update(Interaction, before.metadata.name, (next) => {
        if (next.status.phase !== 'ConsentRequired') {
          throw new Error(`phase is ${next.status.phase}`);
        }
        next.status.phase = 'Completed';
        next.internal.consent = { scopes, rejected: internal.rejected };
      });
    });
  }

  #cancel(before: InteractionObject): Promise<InteractionObject> {
    return this.store.change(this.store.systemCall(), (tx) =>
      tx.update(Interaction, before.metadata.name, ({ status, internal }) => {
        status.phase = 'Aborted';
        internal.aborted = 'Declined';
      }),
    );
  }

  /** A person known by an address. */
  async account(
    address = `${randomBytes(4).toString('hex')}@example.test`,
  ): Promise<AccountObject> {
    const name = [...randomBytes(20)]
      .map((byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27])
      .join('');
    return this.store.change(this.store.systemCall(), (tx) =>
      tx.create(Account, {
        metadata: { name },
        spec: { displayName: 'Ada <Lovelace>', givenName: 'Ada' },
        status: {
          email: { address, verifiedTimestamp: toTimestamp(Date.now()) },
          setup: { complete: true, missing: [] },
          passkeys: 0,
        },
        internal: { userHandle: '' },
      }),
    );
  }

  /** Creates a Client; by default Confidential, with a known secret. */
  async client(name: string, spec: Partial<ClientObject['spec']> = {}): Promise<ClientObject> {
    const draft = {
      metadata: { name },
      spec: {
        displayName: `The ${name}`,
        redirectURIs: ['https://rp.example.test/cb'],
        postLogoutRedirectURIs: [],
        type: 'Confidential',
        applicationType: 'web',
        grantTypes: ['authorization_code', 'refresh_token'],
        subjectType: 'public',
        idTokenSignedResponseAlg: 'ES256',
        firstParty: false,
        scopes: [
          { name: 'openid', required: true },
          { name: 'profile', required: false },
          { name: 'email', required: false },
          { name: 'offline_access', required: false },
        ],
        ...(spec.type === 'Public' ? {} : { secretHashes: [hashOf(secretOf(name))] }),
        ...spec,
      },
      status: { secrets: [] },
      internal: { secrets: [] },
    } as unknown as Draft<ClientObject>;
    return this.store.change(this.store.systemCall(), (tx) => tx.create(Client, draft));
  }

  /** Who a browser is, as the server would find out. */
  async who(cookie: string | undefined, bound?: string): Promise<Caller | undefined> {
    const request = { headers: { ...(cookie !== undefined && { cookie }) } } as IncomingMessage;
    for (const authenticate of this.identity.authenticators) {
      const caller = await authenticate({
        request,
        cookie: (name) => cookieValue(cookie, name),
        ...(bound !== undefined && { boundName: bound }),
      });
      if (caller) return caller;
    }
    return undefined;
  }

  sessions(account: string): Promise<ObjectOf<typeof Session>[]> {
    return this.store.reader(Session).list(account);
  }

  /** Ends a session as its owner would. */
  async endSession(name: string): Promise<void> {
    await this.store.change(this.store.systemCall(), async (tx) => {
      await tx.delete(Session, name);
    });
  }
}

/** A Client's secret in these tests. */
export const secretOf = (name: string): string => `secret-of-${name}`;

/** A secret as a manifest carries it. */
export const hashOf = (secret: string): string =>
  `sha256:${Buffer.from(createHashOf(secret)).toString('hex')}`;

import { createHash } from 'node:crypto';
import { authorizerOf } from '../../support/authorizer-of.js';
import { testKeys } from '../../support/keys.js';
import { settles } from '../../support/patience.js';
import { startedSettings } from '../../support/started-settings.js';

const createHashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const closeServer = (server: Server): Promise<void> =>
  new Promise((done) => {
    server.closeAllConnections();
    server.close(() => done());
  });

/** Waits until a condition holds, up to ten seconds. */
export async function until<T>(
  look: () => Promise<T | undefined | false>,
  what = 'the condition',
): Promise<T> {
  try {
    return (await settles(look, Boolean)) as T;
  } catch (error) {
    throw new Error(`${what} did not come`, { cause: error });
  }
}
