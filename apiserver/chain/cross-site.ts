import { forbidden, type StatusError } from '../../registry/status/status.js';
import { isBrowser, rawValues } from '../http/headers.js';
import type { ApiRequest, ParsedRequest } from '../http/message.js';
import { isWatchRequest, type RequestInfo } from '../request/request-info.js';
import type { Step } from './step.js';

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);

const refusal = (isChange: boolean): StatusError =>
  forbidden(
    isChange
      ? 'a request that changes anything must come from this service’s own pages'
      : 'pages of other sites may read only what is public, without credentials',
  );

/**
 * Refuses requests of other sites' pages from headers alone, before any credential is read
 * (docs/design/security.md#cross-site-requests).
 */
export function refuseCrossSite(request: ApiRequest, origin: string, api: boolean): void {
  if (!isBrowser(request)) return;
  const change = !reads.has(request.method);
  const sites = rawValues(request, 'sec-fetch-site');
  const origins = rawValues(request, 'origin');
  if (
    !(change
      ? changePasses(sites, origins, origin)
      : !api || readPasses(request, sites, origins, origin))
  ) {
    throw refusal(change);
  }
}

/**
 * Reports whether a request reads what anyone may read, at any time: documents, and kinds that are
 * public (docs/design/security.md#public-reads).
 */
const isPublicRead = (method: string, requestInfo: RequestInfo): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !isWatchRequest(requestInfo) &&
  (requestInfo.type === 'resource'
    ? requestInfo.kind.isPublic === true && requestInfo.action === undefined
    : requestInfo.type === 'discovery');

/**
 * Refuses changes and API reads that another site's page sent, except public reads without
 * credentials. Lets every site's page see the response to those.
 */
export const checkOrigin =
  (origin: string): Step<ParsedRequest> =>
  (req, res) => {
    const { requestInfo } = req;
    if (isPublicRead(req.method, requestInfo)) {
      const { authorization, cookie } = req.headers;
      const isBare = authorization === undefined && cookie === undefined && !req.assertedHeaders;
      if (isBare || requestInfo.type === 'discovery') {
        res.setHeader('Access-Control-Allow-Origin', '*');
      }
      if (isBare) return;
    }
    if (requestInfo.type === 'provider' && exemptFromOrigin(requestInfo.path)) return;
    const isApi =
      requestInfo.type === 'resource' ||
      requestInfo.type === 'discovery' ||
      requestInfo.type === 'metrics' ||
      requestInfo.type === 'review';
    refuseCrossSite(req, origin, isApi);
  };

function changePasses(sites: string[], origins: string[], ours: string): boolean {
  if (sites.length > 1 || origins.length > 1) return false;
  const site = sites[0];
  const from = origins[0];
  if (site === 'same-origin') return from === undefined || from === ours || from === 'null';
  if (site === 'none') return from === undefined || from === ours;
  return site === undefined && from === ours;
}

function readPasses(
  request: ApiRequest,
  sites: string[],
  origins: string[],
  ours: string,
): boolean {
  if (sites.length === 0) return true;
  if (sites.length > 1) return false;
  if (sites[0] === 'same-origin' || sites[0] === 'none') return changePasses(sites, origins, ours);
  if (sites[0] !== 'same-site' && sites[0] !== 'cross-site') return false;
  return (
    request.headers['sec-fetch-mode'] === 'navigate' &&
    request.headers['sec-fetch-dest'] === 'document'
  );
}

/**
 * Reports whether other sites may call a provider endpoint: all but the confirmations
 * (docs/design/security.md#cross-site-requests).
 */
export const exemptFromOrigin = (path: string): boolean =>
  /^\/oauth2\/(auth|token|par|device\/auth|introspect|revoke|userinfo|jwks|logout)$/.test(path);
