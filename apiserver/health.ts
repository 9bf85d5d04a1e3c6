import type { Store } from '../registry/store/store.js';
import type { ApiRequest, ApiResponse } from './http/message.js';
import type { Encoder } from './http/response.js';

/** A health check; throws the reason if it fails. */
export interface HealthCheck {
  readonly name: string;
  readonly isLiveness?: boolean;
  run(): Promise<void> | void;
}

/** Returns the check that the store answers, and that its changes arrive. */
export const storageCheck = ({
  storage,
  watchCache,
}: Pick<Store, 'storage' | 'watchCache'>): HealthCheck => ({
  name: 'storage',
  async run() {
    await storage.get('meta/ready');
    if (!watchCache.isReady) {
      throw new Error('the watch cache has received nothing from storage for 10 s');
    }
  },
});

const text = ['Cache-Control', 'no-store', 'Content-Type', 'text/plain; charset=utf-8'];

/**
 * `/livez`, `/readyz` and `/healthz`, compatible with kube-apiserver
 * (docs/design/kubernetes.md#health).
 */
export class Health {
  readonly #checks: readonly HealthCheck[];
  readonly #encoder: Encoder;

  constructor(checks: readonly HealthCheck[], encoder: Encoder) {
    this.#checks = checks;
    this.#encoder = encoder;
  }

  /** Returns the outcome of each check by path. */
  async outcomes(): Promise<
    { readonly type: string; readonly name: string; readonly isHealthy: boolean }[]
  > {
    const listed = this.#checks.flatMap((check) => [
      { type: 'readyz', check },
      ...(check.isLiveness ? [{ type: 'livez', check }] : []),
    ]);
    return Promise.all(
      listed.map(async ({ type, check }) => ({
        type,
        name: check.name,
        isHealthy: await passes(check),
      })),
    );
  }

  async respond(
    req: ApiRequest,
    res: ApiResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const [, endpoint, checkName] = path.split('/');
    const selected = this.#checks.filter(
      (check) =>
        (endpoint === 'readyz' || check.isLiveness) &&
        (checkName === undefined || check.name === checkName),
    );
    if (selected.length === 0) {
      return this.#encoder.send(req, res, 404, Buffer.from('404 page not found\n'), text);
    }
    const excluded = new Set(query.getAll('exclude'));
    const lines: string[] = [];
    let hasFailed = false;
    for (const check of selected) {
      if (excluded.has(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const good = await passes(check);
      hasFailed ||= !good;
      lines.push(good ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`);
    }
    const report = `${lines.join('\n')}\n${endpoint} check ${hasFailed ? 'failed' : 'passed'}\n`;
    const body = hasFailed || query.has('verbose') ? report : 'ok';
    this.#encoder.send(req, res, hasFailed ? 500 : 200, Buffer.from(body), text);
  }
}

const passes = (check: HealthCheck): Promise<boolean> =>
  Promise.resolve()
    .then(() => check.run())
    .then(
      () => true,
      () => false,
    );
