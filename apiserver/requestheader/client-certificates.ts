import { TLSSocket } from 'node:tls';
import type { Caller } from '../../registry/kind.js';
import { isValidNow, type Peer, peerOf, periodsOf } from './peer.js';
import type { AuthoritySource } from './trust.js';

/**
 * Authenticates users by the client certificate of their connection, as kube-apiserver does with
 * `--client-ca-file`: the common name is the user, the organizations are the groups.
 */
export class ClientCertificates {
  readonly #source: AuthoritySource | undefined;
  readonly #peers = new WeakMap<object, Peer>();

  constructor(source: AuthoritySource | undefined) {
    this.#source = source;
  }

  /** Reports whether the connection has a client certificate, valid or not, that could name a user. */
  isPresented(socket: object): boolean {
    return this.#peerOf(socket) !== undefined;
  }

  /** Returns the user of a connection under the current CAs; undefined if there is none. */
  caller(socket: object): Caller | undefined {
    const trust = this.#source?.current;
    const peer = this.#peerOf(socket);
    if (!trust || !peer?.commonName) return undefined;
    if (peer.trust !== trust) {
      peer.trust = trust;
      peer.periods = periodsOf(peer, trust);
    }
    if (!isValidNow(peer)) return undefined;
    const groups = [...peer.organizations, 'system:authenticated'];
    return { type: 'ClusterUser', user: peer.commonName, groups };
  }

  #peerOf(socket: object): Peer | undefined {
    if (this.#source === undefined || !(socket instanceof TLSSocket)) return undefined;
    const peer = this.#peers.get(socket) ?? peerOf(socket);
    if (peer) this.#peers.set(socket, peer);
    return peer;
  }
}
