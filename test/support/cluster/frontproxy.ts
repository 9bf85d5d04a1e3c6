import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificatePair } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { until } from '../patience.js';
import { Tab } from '../people/tab.js';
import { startTest, type TestOptions, type TestService, temporary } from '../service.js';
import { clientAuth, issueCertificate, type Wish } from './issue-certificate.js';

const hour = 3_600_000;

/** A certificate good from an hour ago for a day, unless wished otherwise. */
export const certificate = (
  name: string,
  by?: CertificatePair,
  wish: Partial<Wish> = {},
): CertificatePair =>
  issueCertificate({ name, from: Date.now() - hour, until: Date.now() + 24 * hour, ...wish }, by);
/** An authority, of its own or below another. */
export const authority = (
  name: string,
  by?: CertificatePair,
  wish: Partial<Wish> = {},
): CertificatePair => certificate(name, by, { authority: {}, ...wish });
/** What a front proxy proves itself by. */
export const proxyOf = (by: CertificatePair, wish: Partial<Wish> = {}): CertificatePair =>
  certificate('front-proxy-client', by, { usages: [clientAuth], ...wish });

/** A service on a secure port that believes front proxies of an authority in a file. */
export interface Fronted {
  readonly service: TestService;
  readonly authority: CertificatePair;
  readonly proxy: CertificatePair;
  /** What its own certificate is trusted by. */
  readonly ca: string;
  /**
   * Puts other authorities into the file, and waits until they are taken over, or found to be of no
   * use.
   */
  change(authorities: string): Promise<void>;
  /** Who connects to the secure port with a certificate, or with none. */
  caller(
    pair: CertificatePair | undefined,
    headers?: Readonly<Record<string, string | string[]>>,
  ): Tab;
}

/** Starts one; front proxies have to be called `front-proxy-client` unless flags say otherwise. */
export async function startFronted(
  options: TestOptions = {},
  flags: readonly string[] = ['--requestheader-allowed-names', 'front-proxy-client'],
  signer = authority('front-proxy'),
): Promise<Fronted> {
  const [file, directory] = [join(temporary(), 'ca.crt'), temporary()];
  writeFileSync(file, signer.cert);
  const service = await startTest({
    ...options,
    directory,
    flags: [
      '--secure-port',
      '0',
      '--requestheader-client-ca-file',
      file,
      '--limit-factor',
      '1000',
      ...flags,
      ...(options.flags ?? []),
    ],
  });
  const ca = readFileSync(join(directory, 'tls.crt'), 'utf8');
  return {
    service,
    authority: signer,
    proxy: proxyOf(signer),
    ca,
    async change(authorities) {
      const before = service.logs.length;
      writeFileSync(`${file}.new`, authorities);
      renameSync(`${file}.new`, file);
      await until(() =>
        service.logs
          .slice(before)
          .some((line) => /reloaded the front proxy CA file|the former CAs stay in use/.test(line)),
      );
    },
    caller: (pair, headers) => callerOf(service, ca, pair, headers),
  };
}

/** Who connects to a secure port with a certificate, or with none, and says so much. */
export function callerOf(
  service: TestService,
  ca: string,
  pair: CertificatePair | undefined,
  headers: Readonly<Record<string, string | string[]>> = {},
): Tab {
  const tab = new Tab(service.secureURL!, service.baseURL);
  tab.tls = { ca, ...pair };
  tab.headers = headers;
  return tab;
}

/** As kube-apiserver says who someone is. */
export const saying = (user: string, ...groups: string[]): Record<string, string | string[]> => ({
  'X-Remote-User': user,
  ...(groups.length > 0 && { 'X-Remote-Group': groups }),
});
/** Someone who may do anything. */
export const master = saying('root', 'system:masters', 'system:authenticated');
