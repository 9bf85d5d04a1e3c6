import { Provider, type AdapterPayload } from 'oidc-provider';
import type { LimitOf } from '../registry/rate-limit.js';
import { prefixesOf } from '../registry/prefixes.js';
import { configuration } from './configuration/configuration.js';
import { recordDisclosures } from './claims/disclosures.js';
import { listen } from './http/events.js';
import { currentUnitOfWork } from './context/unit-of-work.js';
import type { ProviderServices } from './context/context.js';
import { noticeRow, noticesOf } from './adapter/outbox-rows.js';
import { sessionName } from './context/session-name.js';
import { secretMatches } from './adapter/client-secret.js';
import { settling } from './http/commit-middleware.js';
import { endingPart } from './adapter/end-sessions.js';
import { spendTry } from './adapter/attempt-limit.js';
import { queueLogouts } from './logout-worker.js';
import type { BuiltProvider } from './context/built-provider.js';

const wrongSecrets: LimitOf = ({ wrongSecretsPerNetwork, wrongCodeWindow }) => ({
  name: 'client-secret',
  max: wrongSecretsPerNetwork,
  seconds: wrongCodeWindow / 1000,
});

/**
 * Makes one Provider of what is configured now, the scopes as they stand; it keeps no state of its
 * own, so two may run side by side.
 */
export function createProvider(foundation: ProviderServices): BuiltProvider {
  const scopes = foundation.scopes();
  const keys = foundation.keys.version;
  const services: ProviderServices = { ...foundation, scopes: () => scopes };
  const provider = new Provider(services.settings.baseURL, configuration(services));
  provider.proxy = true;
  provider.silent = true;
  compareHashes(services, provider);
  keepSavedOnly(provider);
  recordDisclosures(services, provider);
  listen(services, provider);
  provider.on('session.destroyed', (session: AdapterPayload) => markEnding(services, session));
  provider.use(settling(services, provider));
  return {
    scopes,
    keys,
    provider,
    callback: provider.callback(),
    tell: queueLogouts(provider, (client, account, sid) =>
      queueNotice(services, { client, account, sid }),
    ),
  };
}

/**
 * Secrets are compared by their hashes; wrong ones count per Client and network, with the networks
 * around it.
 */
function compareHashes(services: ProviderServices, provider: Provider): void {
  provider.Client.prototype.compareClientSecret = async function compare(presented) {
    if (secretMatches(this.clientSecret, presented)) return true;
    await spendTry(
      services,
      wrongSecrets(services.settings.limits),
      `${this.clientId} ${prefixesOf(currentUnitOfWork()?.origin.network ?? '').wide}`,
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

function queueNotice(
  services: ProviderServices,
  told: { client: string; account: string; sid: string },
): void {
  const uid = Provider.ctx?.oidc.session?.uid;
  const row = noticeRow(services, { ...told, session: uid ? sessionName(told.account, uid) : '' });
  currentUnitOfWork()?.put(row.put, row.value, row.expires);
}

/** The library's own sign-out page ended a session: the projection says so in the same commit. */
function markEnding(services: ProviderServices, session: AdapterPayload): void {
  if (!session.accountId) return;
  const name = sessionName(session.accountId, session.uid!);
  const { accountId, authorizations = {} } = session;
  currentUnitOfWork()?.defer(`session ${name}`, async () =>
    endingPart(
      services,
      name,
      (await noticesOf(services, name, { accountId, authorizations })).states,
    ),
  );
}
