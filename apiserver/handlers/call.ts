import type { OutcomeAuthorizer } from '../../registry/call-facts.js';
import type { Call, Ports, RequestFacts } from '../../registry/kind.js';
import type { Store } from '../../registry/store/store.js';
import { siteOf } from '../../security/fetch-metadata.js';
import { userAgentOf } from '../chain/authorization-attributes.js';
import { isBrowser, rawValues } from '../http/headers.js';
import type { ApiResponse, AuthorizedRequest, PermittedRequest } from '../http/message.js';
import { warningHeader } from '../http/warning.js';

/** What a call needs beside its request. */
interface CallOptions {
  readonly ports: Ports;
  readonly dryRun: boolean;
  /** The request for one object of a collection; by default the request as it was authorized. */
  readonly authorized?: AuthorizedRequest;
}

/** Returns the call of an authorized request; its first change starts from the authorized object. */
export function callOf(
  store: Store,
  req: PermittedRequest,
  res: ApiResponse,
  { ports, dryRun, authorized = req.authorized }: CallOptions,
): Call {
  const { caller, target, fromCache = false, reauthorize, outcome, decision } = authorized;
  const site = siteOf(req);
  const zone = rawValues(req, 'time-zone')[0]?.slice(0, 64);
  const request: RequestFacts = {
    auditID: req.auditID,
    network: req.network,
    userAgent: userAgentOf(req),
    acceptLanguage: req.headers['accept-language'] ?? '',
    browser: isBrowser(req),
    ...(zone && { timeZone: zone }),
    ...(site && { site }),
  };
  return store.call({
    caller,
    request,
    ports,
    dryRun,
    decision,
    ...(outcome && { outcome: { ...outcome, authorize: noting(req, outcome) } }),
    warn: (message) => void res.appendHeader('Warning', warningHeader(message)),
    ...(target && reauthorize && { target: { stored: target, fromCache, authorize: reauthorize } }),
  });
}

/** Authorizes what a request makes; the audit log names the decision about that. */
const noting =
  (req: PermittedRequest, { authorize }: OutcomeAuthorizer): OutcomeAuthorizer['authorize'] =>
  async (object, provisional) => {
    const decision = await authorize(object, provisional);
    req.authorized = { ...req.authorized, decision };
    return decision;
  };
