import type { Limits } from '../../registry/limits/limit-settings.js';
import type { NetworkLimits } from '../../registry/limits/network-limits.js';
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
import type { PermittedRequest } from '../http/message.js';
import { spendAccountBudget } from './account-budget.js';
import type { Change } from './apply-body.js';

/** Reads the bodies of changes within limits. */
export class BodyReader {
  readonly #limits: NetworkLimits;
  readonly #settings: Limits;

  constructor(limits: NetworkLimits, settings: Limits) {
    this.#limits = limits;
    this.#settings = settings;
  }

  /** Returns the change of a PUT or PATCH that is no apply; throws 400, 413, 415 or 429. */
  async readChange(
    req: PermittedRequest,
    max = this.#settings.requestBodySize,
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
    max = this.#settings.requestBodySize,
  ): Promise<Record<string, unknown>> {
    requireBodyType(req);
    return requireObject(await parseYAML(await this.#readCounted(req, max)));
  }

  /** Reads a JSON or YAML body and counts it against the account's daily budget. */
  async readBody(req: PermittedRequest, max = this.#settings.requestBodySize): Promise<unknown> {
    return parseBody(req, await this.#readCounted(req, max));
  }

  async #readCounted(req: PermittedRequest, max: number): Promise<Buffer> {
    const bytes = await readBytes(req, max);
    await spendAccountBudget(
      this.#limits,
      this.#settings,
      req.authorized,
      bytes.length,
      Date.now(),
    );
    return bytes;
  }
}
