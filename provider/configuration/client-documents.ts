import {
  errors,
  type Client,
  type Configuration,
  type KoaContext,
  type Provider,
} from 'oidc-provider';
import { documentURL, isDocumentURL } from '../../kinds/client/document-url.js';
import { authorizeLoaded } from '../../registry/authorizer.js';
import type { LimitOf } from '../../registry/rate-limit.js';
import { spendNetworkAttempt } from '../adapter/attempt-limit.js';
import { DocumentError, metadataOfDocument } from '../adapter/client-document.js';
import type { ProviderServices } from '../context/context.js';
import { libraryFetch } from '../context/egress-fetch.js';
import { withProviderErrors } from '../context/errors.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import { logRefusedDocument } from '../http/wrong-parameters.js';

/** How long a document is kept, in seconds. */
const cacheDuration = { min: 300, max: 86_400 };

/** Returns the limit on fetches of metadata documents by client network and in all. */
export const documentLimit: LimitOf = ({ clientDocumentsPerNetwork, clientDocumentsInAll }) => ({
  name: 'client-documents',
  max: clientDocumentsPerNetwork,
  seconds: 60,
  inAll: clientDocumentsInAll,
});

/** The memo key of a document that this request fetches. */
const fetchedMemo = (clientID: string): string => `fetched ${clientID}`;
/** The memo key of a document that this request cannot use. */
const refusedMemo = (clientID: string): string => `refused ${clientID}`;

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
  const { allowed } = await withProviderErrors(
    authorizeLoaded(services.authorize, {
      caller: { type: 'Anonymous' },
      action: 'register',
      facts: { client: clientID },
      record: 'never',
    }),
  );
  return allowed;
}

/**
 * Returns whether the document may be fetched for this request, and counts the fetch; throws 429
 * above the limit. A sign-out fetches nothing: it looks up every Client of the session.
 */
async function mayFetch(
  services: ProviderServices,
  ctx: KoaContext | undefined,
  clientID: string,
): Promise<boolean> {
  const unitOfWork = currentUnitOfWork();
  if (!unitOfWork || ctx?.oidc?.route === 'end_session_confirm') return false;
  if (!(await mayRegister(services, clientID))) return false;
  const limit = documentLimit(services.settings.limits);
  await spendNetworkAttempt(services, limit, unitOfWork.origin.network ?? '');
  unitOfWork.memo.set(fetchedMemo(clientID), true);
  return true;
}

/**
 * Returns the fetch of oidc-provider: the one way out. A metadata document becomes client metadata
 * before oidc-provider reads it.
 */
export function providerFetch(services: ProviderServices): ReturnType<typeof libraryFetch> {
  const fetch = libraryFetch(services.fetch);
  return async (url, init) => {
    const response = await fetch(url, init);
    const isDocument = currentUnitOfWork()?.memo.has(fetchedMemo(url)) ?? false;
    return isDocument && response.status === 200
      ? toClientMetadata(services, documentURL(url)!, response)
      : response;
  };
}

/** `application/json`, or a type that is based on it (RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w.-]{1,100}\+)?json(?:$|[\s;])/i;

async function toClientMetadata(
  services: ProviderServices,
  url: URL,
  response: Response,
): Promise<Response> {
  if (!jsonType.test(response.headers.get('content-type') ?? ''))
    throw new DocumentError('the content type must be application/json');
  const metadata = metadataOfDocument(services, url, Buffer.from(await response.arrayBuffer()));
  const lifetime = ['cache-control', 'expires'].flatMap((name): [string, string][] => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(JSON.stringify(metadata), { headers: lifetime });
}

/**
 * Makes a Client whose metadata document is refused unknown, so that the response is the same as for
 * any unknown Client; the log has the reason. A request tries a document once.
 */
export function hideRefusedDocuments(services: ProviderServices, provider: Provider): void {
  const { find } = provider.Client;
  provider.Client.find = async function findClient(clientID) {
    if (!/^https:/i.test(clientID)) return find.call(this, clientID);
    const memo = currentUnitOfWork()?.memo;
    if (memo?.has(refusedMemo(clientID))) return undefined;
    try {
      return await find.call(this, clientID);
    } catch (error) {
      memo?.set(refusedMemo(clientID), true);
      if (!(error instanceof errors.InvalidClient || error instanceof errors.InvalidClientMetadata))
        throw error;
      logRefusedDocument(services, clientID, error.error_detail ?? error.error_description ?? '');
      return undefined;
    }
  };
}
