import { createServer, type AddressInfo } from 'node:net';
import type { Server } from '../../../apiserver/server.js';
import type { Config } from '../options/config.js';
import type { DisposableStack } from './disposables.js';
import type { Log } from '../../../observability/log.js';
import { certificateNames, certificateFiles, ReloadingCertificate } from './tls-certificates.js';

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
  const url = urlOf('http', await server.listen(port, bindAddress));
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
  const secureURL = urlOf('https', await server.listen(secure.port, bindAddress, certificate));
  await loaded; // Until then, requests get a 503.
  return { url, secureURL, certificate: () => certificate.cert };
}

/** Returns the URL of a listening address. */
export const urlOf = (scheme: string, { family, address, port }: AddressInfo): string =>
  `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** Returns a port that is free at this moment. */
export async function freePort(address: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, address, () => resolve());
  });
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return port;
}
