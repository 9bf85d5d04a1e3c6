import { hashOf } from '../../kinds/policy/policy.js';
import type { Store } from '../../registry/store/store.js';
import type { Rule } from '../parse/rules.js';
import type { Engine } from './engine.js';

const key = 'meta/policy-rules';
const purpose = 'policy rules';
const macLength = 32;

/** The largest cached value in bytes; larger ones belong to long texts, which are rare. */
const maxBytes = 512 << 10;

/**
 * Stores the parsed rules of the active policy, since parsing is the most expensive step of a
 * start. The value has a MAC over the policy's name, its text and the parser's version. Someone who
 * can write to the store can only force the text to be parsed again.
 */
export class ParsedPolicyCache {
  readonly #store: Store;
  readonly #engine: Engine;

  constructor(store: Store, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
  }

  /**
   * Returns the cached rules of this policy, or undefined if a different policy, text or parser
   * version was cached.
   */
  async get(name: string, text: string): Promise<readonly Rule[] | undefined> {
    const { entry } = await this.#store.storage.get(key);
    if (!entry || entry.value.length > macLength + maxBytes) return undefined;
    const body = entry.value.toString('utf8', macLength);
    if (
      !this.#store.systemCall().keys.macMatches(purpose, body, entry.value.subarray(0, macLength))
    ) {
      return undefined;
    }
    const { source, rules } = JSON.parse(body) as { source: string; rules: readonly Rule[] };
    return source === this.#fingerprint(name, text) ? rules : undefined;
  }

  /**
   * Caches the rules of this policy in place of those of another. Writes nothing if another replica
   * already did.
   */
  async put(name: string, text: string, rules: readonly Rule[]): Promise<void> {
    const body = JSON.stringify({ source: this.#fingerprint(name, text), rules });
    if (Buffer.byteLength(body) > maxBytes) return;
    const call = this.#store.systemCall();
    const value = Buffer.concat([call.keys.mac(purpose, body), Buffer.from(body)]);
    await this.#store.change(call, async (tx) => {
      if (!(await tx.read(key))?.value.equals(value)) tx.write(key, value);
    });
  }

  #fingerprint(name: string, text: string): string {
    return hashOf(JSON.stringify([this.#engine.parserVersion, name, text]));
  }
}
