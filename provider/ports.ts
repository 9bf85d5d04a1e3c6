import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { Ports } from '../registry/kind.js';
import { noteSignIn } from '../registry/sign-in-event.js';
import { clearedSession } from './context/cookies.js';
import { finish } from './interaction/finish.js';
import type { Foundation } from './context/context.js';
import { knowsAddress, rememberAddress } from './context/known-browser.js';
import { preview } from './claims/preview.js';
import { signJwt } from './adapter/signing-keys.js';
import { revokeGrants } from './adapter/revocation.js';
import { endSessions } from './adapter/end-sessions.js';

/** The ports that this room implements. */
export type ProviderPorts = Omit<Ports, 'law'>;

/**
 * What kinds may ask of the provider in one request; without a request there is nothing to finish
 * and no cookie to clear.
 */
export function portsOf(
  on: Foundation,
  provider: () => Provider,
  request?: IncomingMessage,
  response?: ServerResponse,
): ProviderPorts {
  return {
    finish: async (interaction) => {
      if (request && response) await finish(on, provider(), request, response, interaction);
    },
    endSessions: (sessions) => endSessions(on, sessions),
    revokeGrants: (grants) => revokeGrants(on, grants),
    forgetCookies: () => response?.appendHeader('Set-Cookie', clearedSession(on.cookies)),
    knowsBrowser: (address) => request !== undefined && knowsAddress(on, request, address),
    rememberBrowser: (address) => {
      if (request && response) rememberAddress(on, request, response, address);
    },
    fetch: (url, init) => on.fetch(url, init),
    scopes: () => on.scopes(),
    preview: (interaction, scopes) => preview(on, interaction, scopes),
    groupsOf: (address) => on.groups.of(address),
    audit: (event, facts) => {
      on.count(event);
      on.log.warn({ event, ...facts }, 'a security event');
    },
    noteSignIn: (facts) => {
      if (request) noteSignIn(request, facts);
    },
    signIns: on.signIns,
    sign: async (claims, typ) => signJwt(on.keys, claims, typ),
  };
}
