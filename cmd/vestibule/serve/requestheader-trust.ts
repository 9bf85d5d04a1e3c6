import { readFileSync } from 'node:fs';
import {
  trustOf,
  type ProxySettings,
  type ProxyTrust,
  type TrustSource,
} from '../../../apiserver/requestheader/trust.js';
import { ClusterTrust } from './requestheader-configmap.js';
import { ConfigError } from '../options/config.js';
import type { FrontProxyConfig } from '../options/front-proxy-config.js';
import { followFiles } from './watch-files.js';
import { InClusterClient } from './in-cluster-client.js';
import type { Log } from '../../../observability/log.js';

/** Trust that is followed until it is stopped. */
export interface FollowedTrust extends TrustSource {
  /** Resolves when it is known for the first time, or is no longer worth waiting for. */
  readonly begun: Promise<void>;
  stop(): unknown;
}

/**
 * Begins to follow which front proxies are believed, by settings or cluster; a ConfigError where
 * that cannot be. `folder` is where a pod's service account is, where not in the usual place.
 */
export function followTrust(config: FrontProxyConfig, log: Log, folder?: string): FollowedTrust {
  return config.from === 'cluster'
    ? new ClusterTrust(new InClusterClient(config.server, folder), log)
    : new FileTrust(config.caFile, config.headers, log);
}

/** Puts to the proof what is believed of front proxies, as far as no one has to be asked. */
export function checkTrust(config: FrontProxyConfig): void {
  if (config.from === 'cluster')
    void new InClusterClient(config.server); // which looks for what a pod is given
  else readTrust(config.caFile, config.headers);
}

type Headers = Omit<ProxySettings, 'authorities'>;

function readTrust(file: string, headers: Headers): ProxyTrust {
  const problem = (what: string): ConfigError =>
    new ConfigError([`--requestheader-client-ca-file: ${file} ${what}`]);
  let authorities: string;
  try {
    authorities = readFileSync(file, 'utf8');
  } catch (error) {
    throw problem(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  try {
    return trustOf({ ...headers, authorities });
  } catch (error) {
    throw problem(`is of no use: ${(error as Error).message}`);
  }
}

/** Front proxies by the settings; their authorities are read again as the file changes. */
class FileTrust implements FollowedTrust {
  readonly begun = Promise.resolve();
  readonly stop: () => void;
  readonly #file: string;
  readonly #headers: Headers;
  readonly #log: Log;
  readonly #changed: (() => void)[] = [];
  #current: ProxyTrust;

  constructor(file: string, headers: Headers, log: Log) {
    this.#file = file;
    this.#headers = headers;
    this.#log = log;
    this.#current = readTrust(this.#file, this.#headers);
    this.stop = followFiles([file], () => this.#look(), log);
  }

  get current(): ProxyTrust {
    return this.#current;
  }

  onChange(changed: () => void): void {
    this.#changed.push(changed);
  }

  /** While the file is wrong, the former stays. */
  #look(): void {
    try {
      const next = readTrust(this.#file, this.#headers);
      if (next.authorities === this.#current.authorities) return;
      this.#current = next;
      for (const changed of this.#changed) changed();
      this.#log.info({ file: this.#file }, 'trusted front proxy authorities changed');
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the authorities of front proxies have changed and cannot be used; the former stay',
      );
    }
  }
}
