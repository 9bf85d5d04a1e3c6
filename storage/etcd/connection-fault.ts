import { connect } from 'node:tls';
import type { Credentials } from './client.js';

const timeoutMs = 1000;

/**
 * Returns what is wrong between the scheme of a URL and what listens there, or with its certificate;
 * undefined if it is neither. gRPC reports each as silence.
 */
export async function connectionFault(
  server: string,
  credentials: Credentials,
): Promise<string | undefined> {
  const { protocol } = new URL(server);
  const { code, isConnected, isEncrypted } = await handshake(server, credentials);
  if (protocol === 'http:') {
    return isEncrypted
      ? `etcd at ${server} has TLS: write https:// in --etcd-servers, and check --etcd-cafile`
      : undefined;
  }
  if (isEncrypted) {
    return code === undefined
      ? undefined
      : `the certificate of etcd at ${server} is not accepted (${code}): check --etcd-cafile`;
  }
  return isConnected
    ? `etcd at ${server} did not answer in TLS: give etcd a certificate, or write http:// in ` +
        '--etcd-servers if it is on loopback'
    : undefined;
}

interface Handshake {
  /** Why the server's certificate is not accepted. */
  readonly code: string | undefined;
  readonly isConnected: boolean;
  readonly isEncrypted: boolean;
}

/** Tries a handshake of TLS, sends nothing else, and closes the connection. */
function handshake(server: string, { ca, cert, key }: Credentials): Promise<Handshake> {
  const { protocol, hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  let isConnected = false;
  const socket = connect({
    host,
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
    ...(/[a-z]/i.test(host) && !host.includes(':') && { servername: host }),
    ALPNProtocols: ['h2'],
    ...(protocol === 'https:' && { ca, cert, key }),
    rejectUnauthorized: false,
  });
  socket.once('connect', () => {
    isConnected = true;
  });
  return new Promise((resolve) => {
    /** Node gives the code of the error, where its types have the error. */
    const end = (isEncrypted: boolean, code?: unknown): void => {
      socket.destroy();
      resolve({ isConnected, isEncrypted, code: code ? String(code) : undefined });
    };
    socket.once('secureConnect', () => end(true, socket.authorizationError));
    socket.on('error', () => end(false));
    socket.once('close', () => end(false));
    // A server that is only slow has no fault.
    socket.setTimeout(timeoutMs, () => {
      isConnected = false;
      end(false);
    });
  });
}
