import { CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { type HttpResponse, send } from './connection/http.js';
import { readAuthority } from './connection/server-address.js';

/** Milliseconds of silence after which a service counts as not ready. */
const timeoutMs = 10_000;

/** The address of a service in the same container. */
const localURL = 'http://127.0.0.1:8080';

/**
 * Checks that a service is ready and has the expected issuer, for compose files and `helm test`.
 * Sends no secret, so plain http is allowed.
 */
export async function healthcheck({ args, flags }: Invocation): Promise<void> {
  if (args.length > 0) throw new CommandError('healthcheck takes no arguments', 2);
  const url = originOf(flags.url ?? localURL);
  const ca = readAuthority(flags);
  const get = (path: string): Promise<HttpResponse> =>
    send('GET', `${url}${path}`, {}, { timeoutMs, ...(ca !== undefined && { ca }) });
  const ready = await get('/readyz?verbose');
  const failing = [...ready.text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name);
  if (!ready.ok) {
    throw new CommandError(
      `${url} is not ready: ${failing.length > 0 ? failing.join(', ') : `HTTP ${ready.code}`}`,
    );
  }
  const { ok, code, body } = await get('/.well-known/openid-configuration');
  if (!ok || typeof body?.issuer !== 'string') {
    throw new CommandError(`${url} has no OpenID Connect discovery document: HTTP ${code}`);
  }
  // As the service writes it.
  if (flags.issuer !== undefined && body.issuer !== URL.parse(flags.issuer)?.origin) {
    throw new CommandError(`${url} has the issuer ${body.issuer}, not ${flags.issuer}`);
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    if (!String(body[name]).startsWith(`${body.issuer}/`)) {
      throw new CommandError(
        `${url} has the issuer ${body.issuer}, but its ${name} is elsewhere: ${body[name]}`,
      );
    }
  }
  writeOut(`${body.issuer} is ready\n`);
}

function originOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError('--url must be a URL such as http://127.0.0.1:8080', 2);
  }
  return new URL(url).origin;
}
