import { createHash } from 'node:crypto';
import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Asked } from './asked.js';
import { addMentions } from './expression.js';
import type { CedarValue } from './facts.js';
import type { Rule } from './ruleset.js';
import { flags, type Slot } from './slots.js';
import { Specialiser, type Shape } from './specialise.js';
import type { Vocabulary } from './vocabulary.js';

/** The rules of a policy that one shape of question meets, rewritten for it, with all that they mention. */
export class Slice {
  readonly rules: Readonly<Record<string, PolicyJson>>;
  readonly slots: readonly Slot[];
  /** Equal for slices with the same rules. */
  readonly digest: string;
  /** Mentions what changes by itself: nothing is remembered. */
  readonly moves: boolean;
  readonly #prefix: string;

  constructor(number: number, rules: readonly Rule[], shape: Shape, vocabulary: Vocabulary) {
    const specialiser = new Specialiser(vocabulary, shape);
    const kept = rules.flatMap((rule) => { const rewritten = specialiser.rule(rule); return rewritten ? [[rule.id, rewritten] as const] : [] });
    const mentioned = new Set<string>();
    for (const [, { conditions }] of kept) for (const { body } of conditions) addMentions(body, mentioned);
    this.rules = Object.fromEntries(kept);
    this.slots = specialiser.slots.all.filter(({ name }) => mentioned.has(name));
    this.digest = createHash('sha256').update(JSON.stringify(kept)).digest('base64');
    this.moves = this.slots.some((slot) => slot.moves);
    this.#prefix = `${number} `;
  }

  get size(): number { return Object.keys(this.rules).length }

  /** What is asked, as far as the rules of this slice look at it; throws where a fact is not what it should be. */
  key(asked: Asked): string {
    let key = this.#prefix;
    for (const slot of this.slots) key += encoded(slot.read(asked));
    return key;
  }

  /** The same as the context of an evaluation. */
  context(asked: Asked): Record<string, CedarValue> {
    const held: string[] = [];
    const context: Record<string, CedarValue> = { [flags]: held };
    for (const { name, flag, read } of this.slots) {
      const value = read(asked);
      if (!flag) { if (value !== undefined) context[name] = value } else if (value) held.push(name);
    }
    return context;
  }
}

/** JSON ends where it ends, so that no two lists of values read alike. */
const encoded = (value: CedarValue | undefined): string => (value === true ? '1' : value === false ? '0' : value === undefined ? '-' : `${JSON.stringify(value)},`);
