import type { IncomingMessage, ServerResponse } from 'node:http';
import { endSignInsUnderWay } from '../kinds/people/account/end-tokens.js';
import type { Ports } from '../registry/kind.js';
import { recordSignIn } from '../registry/sign-in-event.js';
import { endSessions } from './adapter/end-sessions.js';
import { revokeGrants } from './adapter/revocation.js';
import { signJwt } from './adapter/signing-keys.js';
import { preview } from './claims/preview.js';
import type { ProviderServices } from './context/context.js';
import { clearedSession, cookieValue, isSigned } from './context/cookies.js';
import { knowsAddress, rememberAddress } from './context/known-browser.js';

/** The ports that the provider implements. */
export type ProviderPorts = Omit<Ports, 'policy' | 'settings'>;

/** Security events of people who did what their page offers them: each is logged, none is a warning. */
const usualEvents: ReadonlySet<string> = new Set(['passkey.added', 'invitation.accepted']);

/** Returns whether a request has the cookie of a session with our signature. */
function hasSessionCookie(
  { secrets: { keys }, pages: { cookies } }: ProviderServices,
  { headers }: IncomingMessage,
): boolean {
  const value = cookieValue(headers.cookie, cookies.session);
  return value !== undefined && isSigned(keys, cookies, headers.cookie, cookies.session, value);
}

/** Returns the ports of kinds for one request. Without a request, cookies are not set. */
export function portsOf(
  services: ProviderServices,
  request?: IncomingMessage,
  response?: ServerResponse,
): ProviderPorts {
  return {
    endSessions: (sessions) => endSessions(services, sessions),
    endSignInsUnderWay,
    revokeGrants: (grants) => revokeGrants(services, grants),
    clearSessionCookie: () =>
      response?.appendHeader('Set-Cookie', clearedSession(services.pages.cookies)),
    hasSessionCookie: () => request !== undefined && hasSessionCookie(services, request),
    knowsBrowser: (address) => request !== undefined && knowsAddress(services, request, address),
    rememberBrowser: (address) => {
      if (request && response) rememberAddress(services, request, response, address);
    },
    fetch: (url, init) => services.claims.fetch(url, init),
    scopes: () => services.claims.scopes(),
    preview: (interaction, scopes) => preview(services, interaction, scopes),
    clientReport: (client, uid) => services.signIns.clientReports.statusOf(client, uid),
    groupsOf: (address) => services.policy.groups.groupsOf(address),
    audit: (event, facts) => {
      services.runtime.count(event);
      // What people do in the usual way is no warning; what takes or gives access without them is.
      services.runtime.log[usualEvents.has(event) ? 'info' : 'warn'](
        { event, ...facts },
        'a security event',
      );
    },
    noteSignIn: (facts) => {
      if (request) recordSignIn(request, facts);
    },
    signIns: services.signIns.metrics,
    sign: async (claims, typ) => signJwt(services.secrets.keys, claims, typ),
  };
}
