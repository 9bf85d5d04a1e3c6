import { type AdapterPayload, errors, Provider } from 'oidc-provider';
import { prefixesOf } from '../registry/limits/prefixes.js';
import type { LimitOf } from '../registry/limits/rate-limit.js';
import { spendAttempt } from './adapter/attempt-limit.js';
import { secretMatches } from './adapter/client-secret.js';
import { stageEnding } from './adapter/end-sessions.js';
import { noticeRow, noticesOf } from './adapter/outbox-rows.js';
import { detectReplays } from './adapter/replay-detection.js';
import { recordDisclosures } from './claims/disclosures.js';
import { hashAccessTokens } from './claims/token-hash.js';
import { hideRefusedDocuments, showErrorsHere } from './configuration/client-documents.js';
import { configuration } from './configuration/configuration.js';
import type { BuiltProvider } from './context/built-provider.js';
import type { ProviderServices } from './context/context.js';
import { currentUnitOfWork } from './context/current-request.js';
import { sessionName } from './context/session-name.js';
import { commitMiddleware } from './http/commit-middleware.js';
import { registerEventListeners } from './http/events.js';
import { logRefusals } from './http/refusals.js';
import { believeSignOut } from './http/sign-out-request.js';
import { logIgnoredParameters } from './http/wrong-parameters.js';
import { queueLogouts } from './logout-worker.js';

const wrongSecrets: LimitOf = ({ wrongSecretsPerNetwork, wrongCodeWindow }) => ({
  name: 'client-secret',
  setting: 'wrongSecretsPerNetwork',
  max: wrongSecretsPerNetwork,
  seconds: wrongCodeWindow / 1000,
});

/**
 * Creates a Provider of oidc-provider with the current scopes and keys. It keeps no state of its
 * own, so two can run side by side.
 */
export function createProvider(currentServices: ProviderServices): BuiltProvider {
  const scopes = currentServices.claims.scopes();
  const keys = currentServices.secrets.keys.version;
  const appearance = currentServices.pages.appearance.current;
  const claims = { ...currentServices.claims, scopes: () => scopes };
  const services: ProviderServices = { ...currentServices, claims };
  const provider = new Provider(services.settings.baseURL, configuration(services));
  provider.proxy = true;
  provider.silent = true;
  compareSecretsByHash(services, provider);
  detectReplays(services, provider);
  skipUnsavedSessions(provider);
  checkResponseTypeFirst(provider);
  ignoreUnbelievableHints(services, provider);
  hideRefusedDocuments(services, provider);
  showErrorsHere(provider);
  hashAccessTokens(provider);
  recordDisclosures(services, provider);
  registerEventListeners(services, provider);
  logRefusals(services, provider);
  provider.on('session.destroyed', (session: AdapterPayload) => markEnding(services, session));
  provider.use(commitMiddleware(services, provider));
  provider.use(believeSignOut(services, provider));
  return {
    scopes,
    keysVersion: keys,
    appearance,
    provider,
    callback: provider.callback(),
    notify: queueLogouts(provider, (client, account, sid) =>
      queueNotice(services, { client, account, sid }),
    ),
  };
}

/**
 * Compares client secrets by their hashes; counts wrong ones per Client and wide client network.
 */
function compareSecretsByHash(services: ProviderServices, provider: Provider): void {
  provider.Client.prototype.compareClientSecret = async function compare(presented) {
    if (secretMatches(this.clientSecret, presented)) return true;
    await spendAttempt(
      services,
      wrongSecrets(services.settings.limits),
      `${this.clientId} ${prefixesOf(currentUnitOfWork()?.origin.network ?? '').wide}`,
    );
    return false;
  };
}

/**
 * Skips saving a session that was never saved: after a failed resume, oidc-provider would throw.
 */
function skipUnsavedSessions(provider: Provider): void {
  const { persist } = provider.Session.prototype;
  provider.Session.prototype.persist = async function keep() {
    return this.exp === undefined ? undefined : persist.call(this);
  };
}

/**
 * Refuses a response type that the Client cannot have before its response mode: oidc-provider checks the
 * mode first, and its error would be about a mode that the Client did not send.
 */
function checkResponseTypeFirst(provider: Provider): void {
  const { responseModeAllowed } = provider.Client.prototype;
  provider.Client.prototype.responseModeAllowed = function allowed(mode, type, profile) {
    const sent = [...new Set(type?.split(' '))].join(' ');
    if (sent !== '' && sent !== 'code' && !this.responseTypeAllowed(sent)) {
      throw new errors.UnsupportedResponseType();
    }
    return responseModeAllowed.call(this, mode, type, profile);
  };
}

/** The endpoints that take a hint of who should sign in. */
const hintRoutes: ReadonlySet<string> = new Set([
  'authorization',
  'pushed_authorization_request',
  'device_authorization',
]);

/**
 * Leaves out an `id_token_hint` that cannot be believed, such as one whose key was removed. With
 * `prompt=none` it is `login_required`: it may be about someone else than is signed in here (OpenID Connect
 * Core §3.1.2.1).
 */
function ignoreUnbelievableHints(services: ProviderServices, provider: Provider): void {
  const { validate } = provider.IdToken;
  provider.IdToken.validate = async function believe(jwt, client) {
    const { ctx } = Provider;
    return validate.call(this, jwt, client).catch((error: unknown) => {
      if (!ctx || !hintRoutes.has(ctx.oidc.route)) throw error;
      if (ctx.oidc.route === 'authorization' && ctx.oidc.params?.prompt === 'none') {
        throw new errors.LoginRequired('id_token_hint cannot be believed');
      }
      logIgnoredParameters(services, ['id_token_hint'], ctx.response.get('Audit-ID'));
      return undefined;
    });
  };
}

function queueNotice(
  services: ProviderServices,
  notice: { client: string; account: string; sid: string },
): void {
  const uid = Provider.ctx?.oidc.session?.uid;
  const row = noticeRow(services, {
    ...notice,
    session: uid ? sessionName(notice.account, uid) : '',
  });
  currentUnitOfWork()?.write(row.put, row.value, row.expires);
}

/**
 * Marks the Session object as ending in the commit in which oidc-provider's logout page ends the
 * session.
 */
function markEnding(services: ProviderServices, session: AdapterPayload): void {
  const { accountId: account, uid, authorizations = {} } = session;
  if (!account || !uid) return;
  const name = sessionName(account, uid);
  currentUnitOfWork()?.defer(`session ${name}`, async (tx) => {
    const owner = { session: name, account };
    const { states } = await noticesOf(services, owner, authorizations);
    tx.add(await stageEnding(services, name, states));
  });
}
