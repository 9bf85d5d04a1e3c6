import type { AdapterPayload } from 'oidc-provider';
import type { Scope } from '../../kinds/apps/claims/scopes.js';
import { Client } from '../../kinds/apps/client/client.js';
import { idTokenClaimsOf } from '../../kinds/apps/client/client-report.js';
import type { ObjectOf, Settings } from '../../registry/kind.js';
import type { Outcome, Worker } from '../../registry/store/outbox.js';
import { outboxRow } from '../../registry/store/outbox-row.js';
import type { Store } from '../../registry/store/store.js';
import { BoundedMap } from '../../security/bounded-map.js';
import { digest, type Keys } from '../../security/keyring.js';
import { addRefusal, type ClientReports, type ReportChange } from './client-reports.js';
import { withProviderErrors } from './errors.js';
import { type Records, recordKeyOf } from './records.js';
import type { UnitOfWork } from './unit-of-work.js';

/** One sign-in of a Client in this time is looked at. */
const minuteMs = 60_000;

/** The number of Clients whose last look a replica knows. */
const maxClients = 1_000;

const noTokens = 'a code was issued, and no token request followed';
const noUserinfo = 'tokens were fetched, and the program asked for no userinfo';

/** The code that is looked at (its hashed id). */
interface Followed {
  readonly client: string;
  readonly code: string;
  readonly issued: number;
}

interface Services {
  readonly store: Store;
  readonly settings: Settings;
  readonly secrets: { readonly keys: Keys; readonly records: Records };
  readonly claims: { scopes(): readonly Scope[] };
  readonly clientReports: ClientReports;
}

/** Sees which sign-ins stop halfway: a code is issued, and the program does not go on. */
export class SignInCheck {
  readonly #services: Services;
  readonly #lastAt = new BoundedMap<string, number>(maxClients);

  constructor(services: Services) {
    this.#services = services;
  }

  /** Notes a code with its request, and looks after it once its time is over: a minute at most. */
  follow(
    unitOfWork: UnitOfWork,
    id: string,
    client: ObjectOf<typeof Client>,
    code: AdapterPayload,
  ): void {
    const clientId = client.metadata.name;
    const { secrets, settings, clientReports } = this.#services;
    clientReports.noteRequest(client, {
      codeChallenge: code.codeChallenge !== undefined,
      nonce: code.nonce !== undefined,
    });
    const now = Date.now();
    if (now - (this.#lastAt.get(clientId) ?? 0) < minuteMs) return;
    this.#lastAt.set(clientId, now);
    const followed: Followed = { client: clientId, code: digest(id), issued: now };
    const notBefore = now + Math.min(minuteMs, settings.limits.authorizationCodeLifetime);
    const options = { id: digest(clientId), notBefore, until: notBefore + minuteMs };
    const { put, value, expires } = outboxRow(secrets.keys, 'sign-in-check', followed, options);
    unitOfWork.write(put, value, expires);
  }

  /** The worker that looks at the codes. */
  get worker(): Worker<Followed> {
    return {
      name: 'sign-in-check',
      delivery: 'Idempotent',
      maxParallel: 2,
      run: async (followed): Promise<Outcome> => {
        const change = await this.#outcomeOf(followed);
        if (change) await this.#services.clientReports.apply(followed.client, [change]);
        return { done: true };
      },
    };
  }

  /** Returns what a sign-in shows; undefined if its code is gone, with its session for example. */
  async #outcomeOf({ client, code, issued }: Followed): Promise<ReportChange | undefined> {
    const { secrets, store } = this.#services;
    const key = recordKeyOf('AuthorizationCode', code);
    const { entry } = await withProviderErrors(store.storage.get(key));
    const payload = entry && secrets.records.open(key, 'AuthorizationCode', entry.value);
    const object = await store.reader(Client).get(client);
    if (!payload || !object) return undefined;
    const unsent = this.#scopesWithout(payload, idTokenClaimsOf(object.spec));
    return (report) => {
      const isRefused = report.refusals.some(
        ({ endpoint, timestamp }) => endpoint === 'token' && Date.parse(timestamp) >= issued - 1000,
      );
      report.refusals = report.refusals.filter(
        ({ message }) => message !== noTokens && !message.startsWith(noUserinfo),
      );
      if (payload.consumed === undefined) {
        if (!isRefused) addRefusal(report, halfway('token', noTokens), Date.now());
      } else if (unsent.length > 0 && !report.userinfo) {
        addRefusal(
          report,
          halfway('userinfo', `${noUserinfo}: it got nothing of ${unsent.join(', ')}`),
          Date.now(),
        );
      }
    };
  }

  /** Returns the agreed scopes that have claims, none of which the ID token has. */
  #scopesWithout({ scope = '' }: AdapterPayload, claims: readonly string[]): string[] {
    const agreed = new Set(String(scope).split(' '));
    return this.#services.claims
      .scopes()
      .filter(
        (scope) => scope.name !== 'openid' && agreed.has(scope.name) && scope.claims.length > 0,
      )
      .filter((scope) => !scope.claims.some(({ name }) => claims.includes(name)))
      .map(({ name }) => name);
  }
}

const remedies = {
  token: 'the token request of the program: its log, and whether it reaches this service',
  userinfo: 'spec.idTokenClaims of the Client, or a userinfo request in the program',
};

const halfway = (endpoint: keyof typeof remedies, message: string) => ({
  endpoint,
  message,
  remedy: remedies[endpoint],
});
