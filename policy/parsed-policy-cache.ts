import type { Store } from '../registry/store.js';
import type { Engine } from './engine.js';
import { hashOf } from '../kinds/policy/policy.js';
import type { Rule } from './parse/rules.js';

const key = 'meta/policy-rules';
const purpose = 'policy rules';
const macLength = 32;

/** Bytes that are worth keeping: rules that take more are those of a long text, which is rare. */
const max = 512 << 10;

/**
 * The rules of the policy in force as they were read from its text, which costs a start more than
 * all else. Made under a key of our own and bound to that policy, its text and what read it:
 * whoever writes to the store alone can make this service read the text again, and nothing else.
 */
export class ParsedPolicyCache {
  readonly #store: Store;
  readonly #engine: Engine;

  constructor(store: Store, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
  }

  /**
   * The rules of this policy, where they were kept by what reads texts as this release does;
   * nothing in every other case.
   */
  async of(name: string, text: string): Promise<readonly Rule[] | undefined> {
    const { entry } = await this.#store.storage.get(key);
    if (!entry || entry.value.length > macLength + max) return undefined;
    const body = entry.value.toString('utf8', macLength);
    if (
      !this.#store.systemCall().keys.macMatches(purpose, body, entry.value.subarray(0, macLength))
    )
      return undefined;
    const { source, rules } = JSON.parse(body) as { source: string; rules: readonly Rule[] };
    return source === this.#source(name, text) ? rules : undefined;
  }

  /**
   * Keeps the rules of this policy in place of those of another; writes nothing where another
   * replica did.
   */
  async keep(name: string, text: string, rules: readonly Rule[]): Promise<void> {
    const body = JSON.stringify({ source: this.#source(name, text), rules });
    if (Buffer.byteLength(body) > max) return;
    const call = this.#store.systemCall();
    const value = Buffer.concat([call.keys.mac(purpose, body), Buffer.from(body)]);
    await this.#store.change(call, async (tx) => {
      if (!(await tx.read(key))?.value.equals(value)) tx.write(key, value);
    });
  }

  #source(name: string, text: string): string {
    return hashOf(JSON.stringify([this.#engine.reader, name, text]));
  }
}
