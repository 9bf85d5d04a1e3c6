import type { IncomingMessage } from 'node:http';
import { decodeJwt } from 'jose';
import { pathOf, queryOf, routes } from '../context/routes.js';

/**
 * Gives a request the `response_mode` that its request object names. The provider refuses request
 * objects without reading them, and the error must be sent in the response mode that the Client
 * expects (OpenID Connect Core §3.1.2.6).
 */
export function keepResponseMode(request: IncomingMessage): void {
  if (pathOf(request) !== routes.authorization) return;
  const params = new URLSearchParams(queryOf(request.url));
  const object = params.get('request');
  if (object === null || params.has('response_mode')) return;
  if (modeIn(object) === 'form_post') request.url = `${request.url}&response_mode=form_post`;
}

/**
 * Returns the `response_mode` in the payload of a JWT, whose signature is not verified; undefined
 * if it cannot be read.
 */
function modeIn(object: string): unknown {
  try {
    return decodeJwt(object).response_mode;
  } catch {
    return undefined;
  }
}
