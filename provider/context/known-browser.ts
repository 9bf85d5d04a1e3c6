import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalAddress } from '../../kinds/signin/email-address.js';
import type { ProviderServices } from './context.js';
import { cookieValue } from './cookies.js';

/** The maximum number of addresses that one browser is remembered for. */
const maxAddresses = 3;

/**
 * A sign-in of this browser: the keyed hash of the address, and the time in seconds since the
 * epoch.
 */
type Proof = readonly [hash: string, seconds: number];

const macOf = (services: ProviderServices, payload: string): Buffer =>
  services.secrets.keys.mac('known browser', payload);

const proofsByRequest = new WeakMap<IncomingMessage, readonly Proof[]>();

/** Returns the earlier sign-ins of a browser, verified once a request. */
function proofsOf(services: ProviderServices, request: IncomingMessage): readonly Proof[] {
  const proofs = proofsByRequest.get(request) ?? verifiedProofs(services, request);
  proofsByRequest.set(request, proofs);
  return proofs;
}

/** Returns an empty list if the cookie is foreign, altered, or present with two values. */
function verifiedProofs(services: ProviderServices, request: IncomingMessage): Proof[] {
  const value = cookieValue(request.headers.cookie, services.pages.cookies.known);
  const [, payload = '', mac = ''] = /^([\w.~-]{1,300})!([\w-]{43})$/.exec(value ?? '') ?? [];
  if (
    payload === '' ||
    !services.secrets.keys.macMatches('known browser', payload, Buffer.from(mac, 'base64url'))
  ) {
    return [];
  }
  const oldest = Date.now() / 1000 - services.settings.limits.knownBrowserLifetime / 1000;
  return payload
    .split('~')
    .map((proof): Proof => {
      const [hash = '', seconds] = proof.split('.');
      return [hash, Number(seconds)];
    })
    .filter(([, seconds]) => seconds > oldest);
}

const hashOf = (services: ProviderServices, address: string): string =>
  services.secrets.keys.mac('known address', canonicalAddress(address)).toString('base64url');

/** Returns true if someone signed in with the address from this browser. */
export function knowsAddress(
  services: ProviderServices,
  request: IncomingMessage,
  address: string,
): boolean {
  const proofs = proofsOf(services, request);
  if (proofs.length === 0) return false;
  const known = hashOf(services, address);
  return proofs.some(([hash]) => hash === known);
}

/**
 * Sets the cookie that remembers a sign-in with the address; the cookie holds a keyed hash, never
 * the address.
 */
export function rememberAddress(
  services: ProviderServices,
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
): void {
  const hash = hashOf(services, address);
  const others = proofsOf(services, request).filter(([other]) => other !== hash);
  const proofs: Proof[] = [
    [hash, Math.floor(Date.now() / 1000)],
    ...others.slice(0, maxAddresses - 1),
  ];
  const payload = proofs.map((proof) => proof.join('.')).join('~');
  const age = Math.floor(services.settings.limits.knownBrowserLifetime / 1000);
  response.appendHeader(
    'Set-Cookie',
    `${services.pages.cookies.known}=${payload}!${macOf(services, payload).toString('base64url')}; ` +
      `path=/; max-age=${age}; samesite=lax;${services.pages.cookies.secure ? ' secure;' : ''} httponly`,
  );
}
