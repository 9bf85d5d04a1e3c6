import { setTimeout as pause } from 'node:timers/promises';
import {
  trustOf,
  wrongHeader,
  type ProxyTrust,
  type TrustSource,
} from '../../../apiserver/requestheader/trust.js';
import { ClusterRefusal, type InClusterClient } from './in-cluster-client.js';
import type { Log } from '../../../observability/log.js';

/**
 * The ConfigMap in which kube-apiserver publishes the trusted front proxies for extension API
 * servers.
 */
const path = '/api/v1/namespaces/kube-system/configmaps';
const name = 'extension-apiserver-authentication';

/**
 * In milliseconds: how long a start waits for the first list, the smallest and largest backoff, and
 * how long one watch lasts.
 */
const times = { start: 10_000, least: 500, most: 30_000, watch: 240_000 };

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
export class ClusterTrust implements TrustSource {
  readonly begun: Promise<void>;
  readonly #pod: InClusterClient;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #changed: (() => void)[] = [];
  readonly #following: Promise<void>;
  #found: () => void = () => {};
  #current: ProxyTrust | undefined;
  #said = '';
  /** Where the watch continues; undefined if a list is needed first. */
  #version: string | undefined;
  #tries = 0;
  #isLost = false;

  constructor(pod: InClusterClient, log: Log) {
    this.#pod = pod;
    this.#log = log;
    const found = new Promise<void>((resolve) => {
      this.#found = resolve;
    });
    this.begun = Promise.race([
      found,
      pause(times.start, undefined, { ref: false, signal: this.#stopping.signal }).catch(() => {}),
    ]);
    this.#following = this.#follow();
  }

  get current(): ProxyTrust | undefined {
    return this.#current;
  }

  onChange(changed: () => void): void {
    this.#changed.push(changed);
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#following;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const began = Date.now();
      try {
        if (this.#version === undefined) await this.#list();
        await this.#watch();
        this.#tries = Date.now() - began > 1_000 ? 0 : this.#tries + 1;
      } catch (error) {
        if (signal.aborted) return;
        this.#tries += 1;
        if (error instanceof ClusterRefusal && error.status === 410) this.#version = undefined;
        else this.#lose(error as Error);
      }
      const wait =
        this.#tries === 0
          ? 0
          : Math.min(times.most, times.least * 2 ** Math.min(this.#tries - 1, 10));
      await pause(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    }
  }

  async #list(): Promise<void> {
    const list = (await this.#pod.get(
      `${path}?${new URLSearchParams({ fieldSelector: `metadata.name=${name}`, limit: '500' })}`,
      this.#stopping.signal,
    )) as { metadata: { resourceVersion: string }; items: ConfigMap[] };
    const found = list.items.find(({ metadata }) => metadata.name === name);
    if (found) this.#take(found);
    else
      this.#log.warn(
        { configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies does not exist',
      );
    this.#version = list.metadata.resourceVersion;
    this.#found();
  }

  async #watch(): Promise<void> {
    const milliseconds = Math.round(times.watch * (1 + Math.random()));
    const query = {
      fieldSelector: `metadata.name=${name}`,
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version!,
      timeoutSeconds: String(Math.round(milliseconds / 1000)),
    };
    for await (const event of this.#pod.lines(
      `${path}?${new URLSearchParams(query)}`,
      milliseconds + 15_000,
      this.#stopping.signal,
      () => this.#regain(),
    ))
      this.#hear(event as Event);
  }

  #hear({ type, object }: Event): void {
    if (type === 'ERROR')
      throw new ClusterRefusal(object.code ?? 500, object.message ?? 'the watch was ended');
    if (type === 'DELETED')
      this.#log.warn(
        { configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies was deleted; the former trust stays in use',
      );
    else if (type !== 'BOOKMARK' && object.metadata.name === name) this.#take(object);
    this.#version = object.metadata.resourceVersion;
    this.#tries = 0;
  }

  #take({ data = {} }: ConfigMap): void {
    const said = JSON.stringify(
      Object.entries(data)
        .filter(([key]) => key.startsWith('requestheader-'))
        .sort(),
    );
    if (said === this.#said) return;
    this.#said = said;
    try {
      this.#current = trustIn(data);
    } catch (error) {
      return this.#log.warn(
        { err: error, configMap: `kube-system/${name}` },
        'the ConfigMap of trusted front proxies is invalid; the former trust stays in use',
      );
    }
    for (const changed of this.#changed) changed();
    this.#log.info(
      { allowedNames: this.#current.allowedNames, authorities: this.#current.certificates.length },
      'trusted front proxies changed',
    );
  }

  #lose(error: Error): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const why =
      error instanceof ClusterRefusal && error.status === 403
        ? '; the service account needs a RoleBinding in kube-system to Role extension-apiserver-authentication-reader'
        : '';
    this.#log.warn(
      { reason: `${error.message}${why}` },
      'could not read the ConfigMap of trusted front proxies; retrying, the former trust stays in use',
    );
  }

  #regain(): void {
    if (this.#isLost) this.#log.info('reading the ConfigMap of trusted front proxies works again');
    this.#isLost = false;
  }
}

/** Parses the ConfigMap, whose lists are JSON in strings. */
function trustIn(data: Readonly<Record<string, string>>): ProxyTrust {
  const authorities = data['requestheader-client-ca-file'];
  if (!authorities) throw new Error('requestheader-client-ca-file is missing');
  const list = (key: string, check?: 'header' | 'prefix'): string[] => {
    const text = data[key] ?? '';
    const found: unknown = text === '' ? [] : parsed(text);
    if (!Array.isArray(found) || !found.every((one) => typeof one === 'string'))
      throw new Error(`${key} is not a list of strings in JSON`);
    for (const one of check ? found : []) {
      const wrong = wrongHeader(one, check === 'prefix');
      if (wrong !== undefined) throw new Error(`${key}: ${wrong}`);
    }
    return check ? found.map((one) => one.toLowerCase()) : found;
  };
  return trustOf({
    authorities,
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
