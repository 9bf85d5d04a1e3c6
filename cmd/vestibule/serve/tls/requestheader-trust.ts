import { readFileSync } from 'node:fs';
import {
  type ProxySettings,
  type ProxyTrust,
  parseProxySettings,
  type TrustSource,
} from '../../../../apiserver/requestheader/trust.js';
import type { Log } from '../../../../observability/log.js';
import { ConfigError } from '../../options/config.js';
import type { FrontProxyConfig } from '../../options/front-proxy-config.js';
import { errorCode, errorMessage } from '../../terminal/thrown.js';
import { type ReloadMessages, reloadFiles } from '../watch-files.js';
import { InClusterClient } from './in-cluster-client.js';
import { ConfigMapTrust } from './requestheader-configmap.js';

/** A source of trust that follows changes until it is stopped. */
export interface FollowedTrust extends TrustSource {
  /** Resolves after the first load, or when that takes too long. */
  readonly loaded: Promise<void>;
  stop(): unknown;
}

/**
 * Starts following the trusted front proxies, from the settings or the cluster. Throws a
 * ConfigError if that is impossible. `folder` overrides the directory of a pod's service account.
 */
export function followTrust(config: FrontProxyConfig, log: Log, folder?: string): FollowedTrust {
  return config.from === 'cluster'
    ? new ConfigMapTrust(new InClusterClient(config.server, folder), log)
    : new FileTrust(config.caFile, config.headers, log);
}

/** Checks the trusted front proxies of the settings without a request to the cluster. */
export function checkTrust(config: FrontProxyConfig): void {
  if (config.from === 'cluster') {
    void new InClusterClient(config.server); // The constructor checks that the service account is mounted.
  } else {
    readTrust(config.caFile, config.headers);
  }
}

type Headers = Omit<ProxySettings, 'authorities'>;

function readTrust(file: string, headers: Headers): ProxyTrust {
  const problem = (what: string): ConfigError =>
    new ConfigError([`--requestheader-client-ca-file: ${file} ${what}`]);
  let authorities: string;
  try {
    authorities = readFileSync(file, 'utf8');
  } catch (error) {
    throw problem(`cannot be read (${errorCode(error)})`);
  }
  try {
    return parseProxySettings({ ...headers, authorities });
  } catch (error) {
    throw problem(`cannot be used: ${errorMessage(error)}`);
  }
}

const messages: ReloadMessages = {
  reloaded: 'reloaded the front proxy CA file',
  failed: 'could not reload the front proxy CA file; the former CAs stay in use',
};

/** Trusted front proxies from the settings. The CA file is watched. */
class FileTrust implements FollowedTrust {
  readonly loaded = Promise.resolve();
  readonly stop: () => void;
  readonly #file: string;
  readonly #headers: Headers;
  readonly #listeners: (() => void)[] = [];
  #current: ProxyTrust;

  constructor(file: string, headers: Headers, log: Log) {
    this.#file = file;
    this.#headers = headers;
    this.#current = readTrust(this.#file, this.#headers);
    this.stop = reloadFiles([file], messages, () => this.#reload(), log);
  }

  get current(): ProxyTrust {
    return this.#current;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the file again; returns whether its authorities changed. */
  #reload(): boolean {
    const next = readTrust(this.#file, this.#headers);
    if (next.authorities === this.#current.authorities) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener();
    return true;
  }
}
