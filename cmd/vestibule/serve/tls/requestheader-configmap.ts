import { setTimeout as pause } from 'node:timers/promises';
import {
  headerNameProblem,
  type ProxyTrust,
  parseProxySettings,
  type TrustSource,
} from '../../../../apiserver/requestheader/trust.js';
import type { Log } from '../../../../observability/log.js';
import { backoffMs } from '../../client/backoff.js';
import { ApiServerError, type InClusterClient } from './in-cluster-client.js';

/**
 * The ConfigMap in which kube-apiserver publishes the trusted front proxies for extension API
 * servers.
 */
const path = '/api/v1/namespaces/kube-system/configmaps';
const name = 'extension-apiserver-authentication';

/** In milliseconds: how long a start waits for the first list, and how long one watch lasts. */
const timesMs = { start: 10_000, watch: 240_000 };
const pausesMs = { min: 500, max: 30_000 };

interface ConfigMap {
  readonly metadata: { readonly name?: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}
interface Event {
  readonly type: string;
  readonly object: ConfigMap & { readonly code?: number; readonly message?: string };
}

/**
 * Trusted front proxies from ConfigMap kube-system/extension-apiserver-authentication, listed and
 * then watched. Invalid or missing data leaves the former trust in place
 * (docs/design/kubernetes.md#front-proxy).
 */
export class ConfigMapTrust implements TrustSource {
  readonly loaded: Promise<void>;
  readonly #client: InClusterClient;
  readonly #log: Log;
  readonly #abort = new AbortController();
  readonly #listeners: (() => void)[] = [];
  readonly #running: Promise<void>;
  #resolveLoaded: () => void = () => {};
  #current: ProxyTrust | undefined;
  #lastData = '';
  /** Where the watch continues; undefined if a list is needed first. */
  #resourceVersion: string | undefined;
  #failureCount = 0;
  #isDisconnected = false;

  constructor(client: InClusterClient, log: Log) {
    this.#client = client;
    this.#log = log;
    const loaded = new Promise<void>((resolve) => {
      this.#resolveLoaded = resolve;
    });
    this.loaded = Promise.race([
      loaded,
      pause(timesMs.start, undefined, { ref: false, signal: this.#abort.signal }).catch(() => {}),
    ]);
    this.#running = this.#follow();
  }

  get current(): ProxyTrust | undefined {
    return this.#current;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  stop(): Promise<void> {
    this.#abort.abort();
    return this.#running;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const startedAt = Date.now();
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch();
        this.#failureCount = Date.now() - startedAt > 1_000 ? 0 : this.#failureCount + 1;
      } catch (error) {
        if (signal.aborted) return;
        this.#failureCount += 1;
        if (error instanceof ApiServerError && error.status === 410) {
          this.#resourceVersion = undefined;
        } else {
          this.#logDisconnect(error as Error);
        }
      }
      const backoff = this.#failureCount === 0 ? 0 : backoffMs(this.#failureCount, pausesMs);
      await pause(backoff, undefined, { signal }).catch(() => {});
    }
  }

  async #list(): Promise<void> {
    const list = (await this.#client.get(
      `${path}?${new URLSearchParams({ fieldSelector: `metadata.name=${name}`, limit: '500' })}`,
      this.#abort.signal,
    )) as { metadata: { resourceVersion: string }; items: ConfigMap[] };
    const found = list.items.find(({ metadata }) => metadata.name === name);
    if (found) {
      this.#apply(found);
    } else {
      this.#log.warn(
        { configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies does not exist',
      );
    }
    this.#resourceVersion = list.metadata.resourceVersion;
    this.#resolveLoaded();
  }

  async #watch(): Promise<void> {
    const durationMs = Math.round(timesMs.watch * (1 + Math.random()));
    const query = {
      fieldSelector: `metadata.name=${name}`,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#resourceVersion!,
      timeoutSeconds: String(Math.round(durationMs / 1000)),
    };
    for await (const event of this.#client.streamLines(
      `${path}?${new URLSearchParams(query)}`,
      durationMs + 15_000,
      this.#abort.signal,
      () => this.#logReconnect(),
    )) {
      this.#handleEvent(event as Event);
    }
  }

  #handleEvent({ type, object }: Event): void {
    if (type === 'ERROR') {
      throw new ApiServerError(object.code ?? 500, object.message ?? 'the watch was ended');
    }
    if (type === 'DELETED') {
      this.#log.warn(
        { configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies was deleted; the former trust stays in use',
      );
    } else if (type !== 'BOOKMARK' && object.metadata.name === name) {
      this.#apply(object);
    }
    this.#resourceVersion = object.metadata.resourceVersion;
    this.#failureCount = 0;
  }

  #apply({ data = {} }: ConfigMap): void {
    const json = JSON.stringify(
      Object.entries(data)
        .filter(([key]) => key.startsWith('requestheader-'))
        .sort(),
    );
    if (json === this.#lastData) return;
    this.#lastData = json;
    try {
      this.#current = parseTrust(data);
    } catch (error) {
      return this.#log.warn(
        { err: error, configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies is invalid; the former trust stays in use',
      );
    }
    for (const listener of this.#listeners) listener();
    this.#log.info(
      { allowedNames: this.#current.allowedNames, authorities: this.#current.certificates.length },
      'trusted front proxies changed',
    );
  }

  #logDisconnect(error: Error): void {
    if (this.#isDisconnected) return;
    this.#isDisconnected = true;
    const why =
      error instanceof ApiServerError && error.status === 403
        ? '; the service account needs a RoleBinding in kube-system to Role extension-apiserver-authentication-reader'
        : '';
    this.#log.warn(
      { reason: `${error.message}${why}` },
      'could not read the ConfigMap of trusted front proxies; retrying, the former trust stays in use',
    );
  }

  #logReconnect(): void {
    if (this.#isDisconnected) {
      this.#log.info('reading the ConfigMap of trusted front proxies works again');
    }
    this.#isDisconnected = false;
  }
}

/** Parses the ConfigMap, whose lists are JSON in strings. */
function parseTrust(data: Readonly<Record<string, string>>): ProxyTrust {
  const caBundle = data['requestheader-client-ca-file'];
  if (!caBundle) throw new Error('requestheader-client-ca-file is missing');
  const list = (key: string, check?: 'header' | 'prefix'): string[] => {
    const text = data[key] ?? '';
    const found: unknown = text === '' ? [] : parsed(text);
    if (!Array.isArray(found) || !found.every((name) => typeof name === 'string')) {
      throw new Error(`${key} is not a list of strings in JSON`);
    }
    for (const name of check ? found : []) {
      const wrong = headerNameProblem(name, check === 'prefix');
      if (wrong !== undefined) throw new Error(`${key}: ${wrong}`);
    }
    return check ? found.map((name) => name.toLowerCase()) : found;
  };
  return parseProxySettings({
    authorities: caBundle,
    allowedNames: list('requestheader-allowed-names'),
    usernameHeaders: list('requestheader-username-headers', 'header'),
    groupHeaders: list('requestheader-group-headers', 'header'),
    extraHeaderPrefixes: list('requestheader-extra-headers-prefix', 'prefix'),
    uidHeaders: list('requestheader-uid-headers', 'header'),
  });
}

function parsed(text: string): unknown {
  try {
    return text === 'null' ? [] : JSON.parse(text);
  } catch {
    return undefined;
  }
}
