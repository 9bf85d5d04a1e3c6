import {
  type Client,
  type Configuration,
  errors,
  type KoaContext,
  type Provider,
} from 'oidc-provider';
import { documentURL, isDocumentURL } from '../../kinds/apps/client/document-url.js';
import { loaded } from '../../registry/authorizer.js';
import type { LimitOf } from '../../registry/limits/rate-limit.js';
import { spendAttempt, spendNetworkAttempt } from '../adapter/attempt-limit.js';
import { DocumentError, metadataOfDocument } from '../adapter/client-document.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork, requestState } from '../context/current-request.js';
import { libraryFetch } from '../context/egress-fetch.js';
import { withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';
import { queryOf } from '../context/routes.js';
import { logRefusedDocument } from '../http/wrong-parameters.js';
import { DocumentCache } from './document-cache.js';

/** How long a document is kept, in seconds. */
const cacheDuration = { min: 300, max: 86_400 };

/** Returns the limit on fetches of metadata documents by client network and in all. */
export const documentLimit: LimitOf = ({ clientDocumentsPerNetwork, clientDocumentsInAll }) => ({
  name: 'client-documents',
  setting: 'clientDocumentsPerNetwork',
  max: clientDocumentsPerNetwork,
  seconds: 60,
  inAll: clientDocumentsInAll,
  inAllSetting: 'clientDocumentsInAll',
});

/** Returns the share of one host in the fetches of metadata documents. */
const hostLimit: LimitOf = ({ clientDocumentsPerHost }) => ({
  name: 'client-documents-host',
  setting: 'clientDocumentsPerHost',
  max: clientDocumentsPerHost,
  seconds: 60,
});

/** The cache of each provider, which is replaced when scopes change. */
const caches = new WeakMap<ProviderServices, DocumentCache>();

function cacheOf(services: ProviderServices): DocumentCache {
  const known = caches.get(services) ?? new DocumentCache();
  caches.set(services, known);
  return known;
}

/** What the request does with documents, by client_id: fetch one, take it as it was, refuse it. */
const uses = new StateKey<Map<string, 'fetched' | 'stale' | 'refused'>>();

/**
 * Configures Clients with a metadata document (docs/design/tokens.md#clients-by-metadata-document):
 * policy decides before a fetch and at each use, and fetches are limited.
 */
export function clientDocuments(services: ProviderServices): Configuration {
  return {
    enabled: true,
    ack: 'draft-02',
    cacheDuration,
    allowFetch: (ctx: KoaContext | undefined, clientID: string) =>
      mayFetch(services, ctx, clientID),
    allowClient: (_ctx: unknown, { clientId }: Client) => mayRegister(services, clientId),
  };
}

/**
 * Returns whether policy permits a Client with a metadata document. Not recorded: the URLs are chosen
 * by strangers.
 */
async function mayRegister(services: ProviderServices, clientID: string): Promise<boolean> {
  if (!isDocumentURL(clientID)) return false;
  const { authorizer } = services.policy;
  const about = {
    caller: { type: 'Anonymous' },
    action: 'register',
    facts: { client: clientID },
  } as const;
  return withProviderErrors(
    (async () => authorizer.decideQuietly(await loaded(authorizer, about)).allowed)(),
  );
}

/**
 * Returns whether the document may be fetched for this request, and counts the fetch. Above the limit,
 * a document that was fetched before is used as it was; throws 429 for another. One that failed a
 * moment ago is not fetched. A sign-out fetches nothing: it looks up every Client of the session.
 */
async function mayFetch(
  services: ProviderServices,
  ctx: KoaContext | undefined,
  clientID: string,
): Promise<boolean> {
  const unitOfWork = currentUnitOfWork();
  if (!unitOfWork || ctx?.oidc?.route === 'end_session_confirm') return false;
  if (!(await mayRegister(services, clientID))) return false;
  const cache = cacheOf(services);
  if (cache.failure(clientID) !== undefined) return false;
  try {
    await spendFetch(services, new URL(clientID).hostname, unitOfWork.origin.network ?? '');
    unitOfWork.state.mapOf(uses).set(clientID, 'fetched');
  } catch (error) {
    if (cache.kept(clientID) === undefined) throw error;
    unitOfWork.state.mapOf(uses).set(clientID, 'stale');
  }
  return true;
}

/** Counts a fetch: first against the share of the host, which takes nothing from others above it. */
async function spendFetch(
  services: ProviderServices,
  host: string,
  network: string,
): Promise<void> {
  const { limits } = services.settings;
  await spendAttempt(services, hostLimit(limits), host);
  await spendNetworkAttempt(services, documentLimit(limits), network);
}

/**
 * Returns the fetch of oidc-provider: the one way out. A metadata document becomes client metadata
 * before oidc-provider reads it.
 */
export function providerFetch(services: ProviderServices): ReturnType<typeof libraryFetch> {
  const fetch = libraryFetch(services.claims.fetch);
  return async (url, init) => {
    const use = requestState().mapOf(uses).get(url);
    const stale = use === 'stale' ? cacheOf(services).kept(url) : undefined;
    if (stale !== undefined) return new Response(stale);
    const response = await fetch(url, init);
    const document = use === 'fetched' && response.status === 200 ? documentURL(url) : undefined;
    return document ? toClientMetadata(services, document, response) : response;
  };
}

/** `application/json`, or a type that is based on it (RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w.-]{1,100}\+)?json(?:$|[\s;])/i;

async function toClientMetadata(
  services: ProviderServices,
  url: URL,
  response: Response,
): Promise<Response> {
  if (!jsonType.test(response.headers.get('content-type') ?? '')) {
    throw new DocumentError('the content type must be application/json');
  }
  const metadata = metadataOfDocument(services, url, Buffer.from(await response.arrayBuffer()));
  const lifetime = ['cache-control', 'expires'].flatMap((name): [string, string][] => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const text = JSON.stringify(metadata);
  cacheOf(services).keep(url.href, text);
  return new Response(text, { headers: lifetime });
}

/**
 * Makes a Client whose metadata document is refused unknown, so that the response is the same as for
 * any unknown Client; the log has the reason. A request tries a document once.
 */
export function hideRefusedDocuments(services: ProviderServices, provider: Provider): void {
  const { find } = provider.Client;
  provider.Client.find = async function findClient(clientID) {
    if (!/^https:/i.test(clientID)) return find.call(this, clientID);
    const used = requestState().mapOf(uses);
    if (used.get(clientID) === 'refused') return undefined;
    try {
      return await find.call(this, clientID);
    } catch (error) {
      const wasFetched = used.get(clientID) === 'fetched';
      used.set(clientID, 'refused');
      if (
        !(error instanceof errors.InvalidClient || error instanceof errors.InvalidClientMetadata)
      ) {
        throw error;
      }
      const reason = noteRefusal(services, clientID, error, wasFetched);
      logRefusedDocument(services, clientID, reason);
      return undefined;
    }
  };
}

/** Returns why a document is refused; remembers it if this request fetched the document. */
function noteRefusal(
  services: ProviderServices,
  clientID: string,
  { error_detail: detail, error_description: description = '' }: errors.OIDCProviderError,
  wasFetched: boolean,
): string {
  const reason = detail ?? description;
  const cache = cacheOf(services);
  if (!wasFetched) return cache.failure(clientID) ?? reason;
  cache.fail(clientID, reason, services.settings.limits.clientDocumentRetry);
  return reason;
}

/** The routes that end an authorization request by a redirect to its Client. */
const redirectingRoutes: ReadonlySet<string> = new Set(['authorization', 'resume']);

/**
 * Keeps errors of a Client with a metadata document on our own page until the person agreed: anyone
 * can write a document, so a link to this service would be a link to any place (RFC 9700 §4.11.2).
 * oidc-provider emits each error before it decides where to show it.
 */
export function showErrorsHere(provider: Provider): void {
  const keepHere = (ctx: KoaContext, error: { allow_redirect?: boolean }): void => {
    const { oidc } = ctx;
    if (!oidc || !redirectingRoutes.has(oidc.route) || oidc.result?.consent) return;
    const query = new URLSearchParams(queryOf(ctx.originalUrl));
    const clientID = oidc.params?.client_id ?? oidc.body?.client_id ?? query.get('client_id');
    if (!isDocumentURL(String(clientID))) return;
    error.allow_redirect = false;
    if (ctx.status < 400) ctx.status = 400;
  };
  provider.on('authorization.error', keepHere);
  provider.on('server_error', keepHere);
}
