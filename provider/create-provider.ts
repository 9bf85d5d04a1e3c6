import { Provider, type AdapterPayload } from 'oidc-provider';
import type { LimitOf } from '../registry/rate-limit.js';
import { prefixesOf } from '../registry/prefixes.js';
import { configuration } from './configuration/configuration.js';
import { recordDisclosures } from './claims/disclosures.js';
import { listen } from './http/events.js';
import { currentExchange } from './context/unit-of-work.js';
import type { Foundation } from './context/context.js';
import { noticeRow, noticesOf } from './adapter/outbox-rows.js';
import { sessionName } from './context/session-name.js';
import { secretMatches } from './adapter/client-secret.js';
import { settling } from './http/commit-middleware.js';
import { endingPart } from './adapter/end-sessions.js';
import { spendTry } from './adapter/attempt-limit.js';
import { queueLogouts } from './logout-worker.js';
import type { Made } from './context/built-provider.js';

const wrongSecrets: LimitOf = ({ wrongSecretsPerNetwork, wrongCodeWindow }) => ({
  name: 'client-secret',
  most: wrongSecretsPerNetwork,
  seconds: wrongCodeWindow / 1000,
});

/**
 * Makes one Provider of what is configured now, the scopes as they stand; it keeps no state of its
 * own, so two may run side by side.
 */
export function createProvider(foundation: Foundation): Made {
  const scopes = foundation.scopes();
  const keys = foundation.keys.version;
  const on: Foundation = { ...foundation, scopes: () => scopes };
  const provider = new Provider(on.settings.baseURL, configuration(on));
  provider.proxy = true;
  provider.silent = true;
  compareHashes(on, provider);
  keepSavedOnly(provider);
  recordDisclosures(on, provider);
  listen(on, provider);
  provider.on('session.destroyed', (session: AdapterPayload) => markEnding(on, session));
  provider.use(settling(on, provider));
  return {
    scopes,
    keys,
    provider,
    callback: provider.callback(),
    tell: queueLogouts(provider, (client, account, sid) =>
      queueNotice(on, { client, account, sid }),
    ),
  };
}

/**
 * Secrets are compared by their hashes; wrong ones count per Client and network, with the networks
 * around it.
 */
function compareHashes(on: Foundation, provider: Provider): void {
  provider.Client.prototype.compareClientSecret = async function compare(presented) {
    if (secretMatches(this.clientSecret, presented)) return true;
    await spendTry(
      on,
      wrongSecrets(on.settings.limits),
      `${this.clientId} ${prefixesOf(currentExchange()?.origin.network ?? '').wide}`,
    );
    return false;
  };
}

/**
 * After a resume that led nowhere the library wants to keep a session that it never saved, and
 * fails: there is nothing to keep.
 */
function keepSavedOnly(provider: Provider): void {
  const { persist } = provider.Session.prototype;
  provider.Session.prototype.persist = async function keep() {
    return this.exp === undefined ? undefined : persist.call(this);
  };
}

function queueNotice(on: Foundation, told: { client: string; account: string; sid: string }): void {
  const uid = Provider.ctx?.oidc.session?.uid;
  const row = noticeRow(on, { ...told, session: uid ? sessionName(told.account, uid) : '' });
  currentExchange()?.put(row.put, row.value, row.expires);
}

/** The library's own sign-out page ended a session: the projection says so in the same commit. */
function markEnding(on: Foundation, session: AdapterPayload): void {
  if (!session.accountId) return;
  const name = sessionName(session.accountId, session.uid!);
  const { accountId, authorizations = {} } = session;
  currentExchange()?.defer(`session ${name}`, async () =>
    endingPart(on, name, (await noticesOf(on, name, { accountId, authorizations })).states),
  );
}
