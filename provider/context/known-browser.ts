import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonical } from '../../kinds/signin/email-address.js';
import { cookieValue } from './cookies.js';
import type { ProviderServices } from './context.js';

/** The addresses that one browser is remembered for. */
const max = 3;

/**
 * A sign-in that this browser made: the keyed hash of the address, and when, in seconds since the
 * epoch.
 */
type Proof = readonly [hash: string, seconds: number];

const macOf = (services: ProviderServices, payload: string): Buffer =>
  services.keys.mac('known browser', payload);

/**
 * What a browser holds as proof of earlier sign-ins; nothing where the cookie is not ours, altered,
 * or came with two values.
 */
function proofsOf(services: ProviderServices, request: IncomingMessage): Proof[] {
  const value = cookieValue(request.headers.cookie, services.cookies.known);
  const [, payload = '', mac = ''] = /^([\w.~-]{1,300})!([\w-]{43})$/.exec(value ?? '') ?? [];
  if (
    payload === '' ||
    !services.keys.macMatches('known browser', payload, Buffer.from(mac, 'base64url'))
  )
    return [];
  const oldest = Date.now() / 1000 - services.settings.limits.knownBrowserLifetime / 1000;
  return payload
    .split('~')
    .map((one): Proof => [one.split('.')[0]!, Number(one.split('.')[1])])
    .filter(([, seconds]) => seconds > oldest);
}

const isOf = (services: ProviderServices, [hash]: Proof, address: string): boolean =>
  services.keys.macMatches('known address', canonical(address), Buffer.from(hash, 'base64url'));

/** Whether this browser proves that someone signed in from it with this address. */
export const knowsAddress = (
  services: ProviderServices,
  request: IncomingMessage,
  address: string,
): boolean => proofsOf(services, request).some((proof) => isOf(services, proof, address));

/**
 * Lets this browser prove later that someone signed in from it with this address; no address is in
 * what it keeps.
 */
export function rememberAddress(
  services: ProviderServices,
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
): void {
  const others = proofsOf(services, request).filter((proof) => !isOf(services, proof, address));
  const hash = services.keys.mac('known address', canonical(address)).toString('base64url');
  const proofs: Proof[] = [[hash, Math.floor(Date.now() / 1000)], ...others.slice(0, max - 1)];
  const payload = proofs.map((proof) => proof.join('.')).join('~');
  const age = Math.floor(services.settings.limits.knownBrowserLifetime / 1000);
  response.appendHeader(
    'Set-Cookie',
    `${services.cookies.known}=${payload}!${macOf(services, payload).toString('base64url')}; path=/; max-age=${age}; samesite=lax;${services.cookies.secure ? ' secure;' : ''} httponly`,
  );
}
