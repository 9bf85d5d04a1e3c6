import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A certificate authority with one certificate for servers and clients on localhost and 127.0.0.1,
 * as files and as PEM.
 */
export interface Certificates {
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly pem: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };
  remove(): void;
}

/** Makes certificates with openssl. */
export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-certificates-'));
  const at = (name: string): string => join(directory, name);
  const openssl = (line: string): void => {
    execFileSync('openssl', line.split(' '), { cwd: directory, stdio: 'ignore' });
  };
  const keyed = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
  openssl(`req -x509 ${keyed} -keyout ca.key -out ca.crt -days 2 -subj /CN=authority`);
  openssl(`req -new ${keyed} -keyout tls.key -out tls.csr -subj /CN=etcd`);
  writeFileSync(
    at('extensions'),
    'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n',
  );
  openssl(
    'x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out tls.crt -days 2 -extfile extensions',
  );
  chmodSync(at('tls.key'), 0o600);
  const files = { ca: at('ca.crt'), cert: at('tls.crt'), key: at('tls.key') };
  return {
    files,
    pem: {
      ca: readFileSync(files.ca),
      cert: readFileSync(files.cert),
      key: readFileSync(files.key),
    },
    remove() {
      rmSync(directory, { recursive: true });
    },
  };
}
