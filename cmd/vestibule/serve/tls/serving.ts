import type { AddressInfo } from 'node:net';
import { freePort } from '../../../../apiserver/http/free-port.js';
import type { Server } from '../../../../apiserver/server.js';
import type { Log } from '../../../../observability/log.js';
import type { DisposableStack } from '../../../../security/disposable-stack.js';
import type { Config } from '../../options/config.js';
import { certificateFiles, certificateNames, ReloadingCertificate } from './tls-certificates.js';

/** The addresses that a service listens on. */
export interface ListeningAddresses {
  readonly url: string;
  readonly secureURL?: string;
  /** The certificate of the secure port, in PEM. */
  readonly certificate?: () => string;
}

/**
 * Opens the port and, if configured, the TLS port. Certificate files are watched until the stop.
 */
export async function listen(
  { bindAddress, secure, store }: Config,
  { baseURL, port, loaded }: { baseURL: string; port: number; loaded: Promise<void> | undefined },
  server: Server,
  log: Log,
  disposables: DisposableStack,
): Promise<ListeningAddresses> {
  const bind = async (port: number, certificate?: ReloadingCertificate): Promise<AddressInfo> =>
    server.listen(port, bindAddress, certificate).catch((error: NodeJS.ErrnoException) => {
      throw portError(error, bindAddress, port, certificate ? '--secure-port' : '--port');
    });
  const url = urlOf('http', await bind(port));
  if (!secure) return { url };
  const certificate = new ReloadingCertificate(
    await certificateFiles(
      secure,
      store.type === 'embedded' ? store.directory : '',
      certificateNames(baseURL, bindAddress),
      log,
    ),
    secure.minVersion,
    log,
  );
  disposables.add(() => certificate.stop());
  const secureURL = urlOf('https', await bind(secure.port, certificate));
  await loaded; // Until then, requests get a 503.
  return { url, secureURL, certificate: () => certificate.cert };
}

/** Returns the error of a port that cannot be opened, in a sentence that names the setting. */
function portError(
  error: NodeJS.ErrnoException,
  address: string,
  port: number,
  flag: string,
): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program uses it; stop that program',
    EACCES: 'this user may not open it; use a port above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address; set --bind-address',
  };
  const reason = reasons[error.code ?? ''];
  if (reason === undefined) return error;
  const other = error.code === 'EADDRINUSE' ? `, or set another with ${flag}` : '';
  return new Error(`port ${port} of ${address} cannot be opened: ${reason}${other}`, {
    cause: error,
  });
}

/** Returns the URL of a listening address. */
export const urlOf = (scheme: string, { family, address, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** Returns the port of the settings, or one that is free at this moment. */
export const portOf = async ({ port, bindAddress }: Config): Promise<number> =>
  port || (await freePort(bindAddress));
