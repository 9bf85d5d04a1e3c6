import { parseJSONPatch } from '../codec/json-patch.js';
import { parseYAML } from '../codec/yaml.js';
import {
  jsonPatchType,
  mergePatchType,
  parseBody,
  readBytes,
  requireBodyType,
  requireObject,
} from '../http/body.js';
import type { AuthorizedRequest, PermittedRequest } from '../http/message.js';
import type { Change } from './apply-body.js';

/**
 * Counts a change with a body of so many bytes before anything is done; throws 429 if its caller has
 * made too many. `now` in ms since the epoch.
 */
export type SpendBudget = (change: AuthorizedRequest, bytes: number, now: number) => Promise<void>;

/** Reads the bodies of changes within limits. */
export class BodyReader {
  readonly #max: () => number;
  readonly #spendBudget: SpendBudget | undefined;

  /** `max` returns the largest body in bytes, of a kind that does not say. */
  constructor(max: () => number, spendBudget: SpendBudget | undefined) {
    this.#max = max;
    this.#spendBudget = spendBudget;
  }

  /** Returns the change of a PUT or PATCH that is no apply; throws 400, 413, 415 or 429. */
  async readChange(
    req: PermittedRequest,
    max = this.#max(),
    accepted?: readonly string[],
  ): Promise<Change> {
    const type = requireBodyType(req, accepted);
    const body = await this.readBody(req, max);
    if (type === jsonPatchType) return { mode: 'json', patch: parseJSONPatch(body, max) };
    return { mode: type === mergePatchType ? 'merge' : 'replace', body: requireObject(body) };
  }

  /** Returns the configuration of an apply, JSON or YAML; throws 400, 413, 415 or 429. */
  async readConfiguration(
    req: PermittedRequest,
    max = this.#max(),
  ): Promise<Record<string, unknown>> {
    requireBodyType(req);
    return requireObject(await parseYAML(await this.#readCounted(req, max)));
  }

  /** Reads a JSON or YAML body and counts it against the budget of its caller. */
  async readBody(req: PermittedRequest, max = this.#max()): Promise<unknown> {
    return parseBody(req, await this.#readCounted(req, max));
  }

  async #readCounted(req: PermittedRequest, max: number): Promise<Buffer> {
    const bytes = await readBytes(req, max);
    await this.#spendBudget?.(req.authorized, bytes.length, Date.now());
    return bytes;
  }
}
