import type { Encoder } from './http/response.js';
import type { ApiRequest, ApiResponse } from './http/message.js';

/** A health check; throws the reason if it fails. */
export interface HealthCheck {
  readonly name: string;
  readonly live?: boolean;
  run(): Promise<void> | void;
}

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
    { readonly type: string; readonly name: string; readonly good: boolean }[]
  > {
    const asked = this.#checks.flatMap((check) => [
      { type: 'readyz', check },
      ...(check.live ? [{ type: 'livez', check }] : []),
    ]);
    return Promise.all(
      asked.map(async ({ type, check }) => ({ type, name: check.name, good: await holds(check) })),
    );
  }

  async answer(
    req: ApiRequest,
    res: ApiResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const [, which, one] = path.split('/') as [string, string, string | undefined];
    const asked = this.#checks.filter(
      (check) => (which === 'readyz' || check.live) && (one === undefined || check.name === one),
    );
    if (asked.length === 0)
      return this.#encoder.send(req, res, 404, Buffer.from('404 page not found\n'), text);
    const excluded = new Set(query.getAll('exclude'));
    const lines: string[] = [];
    let failed = false;
    for (const check of asked) {
      if (excluded.has(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const good = await holds(check);
      failed ||= !good;
      lines.push(good ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`);
    }
    const report = `${lines.join('\n')}\n${which} check ${failed ? 'failed' : 'passed'}\n`;
    const body = failed || query.has('verbose') ? report : 'ok';
    this.#encoder.send(req, res, failed ? 500 : 200, Buffer.from(body), text);
  }
}

const holds = (check: HealthCheck): Promise<boolean> =>
  Promise.resolve()
    .then(() => check.run())
    .then(
      () => true,
      () => false,
    );
