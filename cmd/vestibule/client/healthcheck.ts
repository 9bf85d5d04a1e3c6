import { CommandError } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { authorityOf } from './server-address.js';
import { out } from '../terminal/output.js';
import { send, type HttpResponse } from './http.js';

/** Milliseconds that a service may say nothing before it counts as not well. */
const patience = 10_000;

/** Where a service is that runs beside this command, in the same container. */
const beside = 'http://127.0.0.1:8080';

/**
 * Asks a service whether it is ready, and whether it says of itself what it should: for compose
 * files and `helm test`. Nothing is sent that anyone could take, so plain http will do.
 */
export async function healthcheck({ args, flags }: Asked): Promise<void> {
  if (args.length > 0) throw new CommandError('healthcheck takes no arguments', 2);
  const url = originOf(flags.url ?? beside);
  const ca = authorityOf(flags);
  const ask = (path: string): Promise<HttpResponse> =>
    send('GET', `${url}${path}`, {}, { patience, ...(ca !== undefined && { ca }) });
  const ready = await ask('/readyz?verbose');
  const failing = [...ready.text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name);
  if (!ready.ok)
    throw new CommandError(
      `${url} is not ready: ${failing.length > 0 ? failing.join(', ') : `HTTP ${ready.code}`}`,
    );
  const { ok, code, body } = await ask('/.well-known/openid-configuration');
  if (!ok || typeof body?.issuer !== 'string')
    throw new CommandError(`${url} does not say who it is: HTTP ${code}`);
  if (flags.issuer !== undefined && body.issuer !== flags.issuer)
    throw new CommandError(`${url} says that it is ${body.issuer}, not ${flags.issuer}`);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    if (!String(body[name]).startsWith(`${body.issuer}/`))
      throw new CommandError(
        `${url} is ${body.issuer}, but names elsewhere its ${name}: ${body[name]}`,
      );
  out(`${body.issuer} is ready\n`);
}

function originOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandError('--url takes an address: http://127.0.0.1:8080', 2);
  return new URL(url).origin;
}
