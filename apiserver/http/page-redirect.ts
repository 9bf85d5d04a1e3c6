import { isNavigation } from './headers.js';
import type { ApiRequest } from './message.js';

/** Returns the headers of the redirect from an object that is bound to a browser to its page. */
export const pageRedirect = (name: string): string[] => [
  'Location',
  `/interaction/${encodeURIComponent(name)}`,
  'Vary',
  'Accept, Sec-Fetch-Mode',
  'Cache-Control',
  'no-store',
];

/**
 * Returns the name of the object whose page a navigation gets although the request was refused: the
 * page says why. Undefined for other requests, and if it was refused before its caller was known,
 * as in another site's frame.
 */
export function pageOfRefused(req: ApiRequest): string | undefined {
  const { requestInfo, caller } = req;
  return requestInfo?.type === 'resource' &&
    caller !== undefined &&
    requestInfo.kind.heldBy &&
    requestInfo.verb === 'get' &&
    requestInfo.action === undefined &&
    isNavigation(req)
    ? requestInfo.name
    : undefined;
}
