import { createHash } from 'node:crypto';
import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/context-attributes.js';
import { DecisionCacheKey } from './cache-key.js';
import type { AuthorizationResponse } from './decision-result.js';
import { flags, type UnknownValue } from './unknowns.js';

/** A rule as it stands in a slice, with the slots it still mentions. */
export interface Held {
  readonly id: string;
  readonly rule: PolicyJson;
  readonly text: string;
  readonly mentions: ReadonlySet<string>;
}

/**
 * The rules of a slice whose guards let a question through, with all that they mention: what Cedar
 * is asked, and what is remembered.
 */
export class ResidualPolicySet {
  readonly rules: Readonly<Record<string, PolicyJson>>;
  readonly size: number;
  readonly slots: readonly UnknownValue[];
  /** Equal for parts with the same rules. */
  readonly digest: string;
  /** Mentions what changes by itself: nothing is remembered. */
  readonly moves: boolean;
  /** What every question is answered, once it is known, where no rule mentions anything. */
  only: AuthorizationResponse | undefined;
  readonly #number: number;
  readonly #looks: DecisionCacheKey;

  constructor(number: number, held: readonly Held[], slots: readonly UnknownValue[]) {
    const digest = createHash('sha256');
    for (const { id, text } of held) digest.update(JSON.stringify([id, text]));
    this.digest = digest.digest('base64');
    this.rules = Object.fromEntries(held.map(({ id, rule }) => [id, rule]));
    this.size = held.length;
    this.slots = slots.filter(({ name }) => held.some(({ mentions }) => mentions.has(name)));
    this.moves = this.slots.some((slot) => slot.moves);
    this.#number = number;
    this.#looks = new DecisionCacheKey(this.slots);
  }

  /**
   * What is asked, as far as these rules look at it; throws where a fact is not what it should be.
   */
  key(asked: AuthorizationRequest): number | string {
    const looks = this.#looks.key(asked);
    return typeof looks === 'number' && this.#number < 2 ** 22
      ? this.#number * 2 ** 31 + looks
      : `${this.#number} ${looks}`;
  }

  /** The same as the context of an evaluation. */
  context(asked: AuthorizationRequest): Record<string, CedarValue> {
    const held: string[] = [];
    const context: Record<string, CedarValue> = { [flags]: held };
    for (const { name, flag, read } of this.slots) {
      const value = read(asked);
      if (!flag) {
        if (value !== undefined) context[name] = value;
      } else if (value) held.push(name);
    }
    return context;
  }
}
