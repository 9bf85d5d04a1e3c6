import { createHash } from 'node:crypto';
import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/context-attributes.js';
import { flags, type UnknownValue } from './unknowns.js';

/** A rule as it stands in a slice, with the unknowns that its conditions mention. */
export interface ResidualRule {
  readonly id: string;
  readonly policy: PolicyJson;
  readonly mentions: ReadonlySet<string>;
}

/** The rules of a slice that a question meets: what Cedar is asked. */
export class ResidualPolicySet {
  readonly rules: Readonly<Record<string, PolicyJson>>;
  readonly size: number;
  readonly unknowns: readonly UnknownValue[];
  /** Equal for sets of the same rules. */
  readonly digest: string;
  /** Whether a rule mentions what changes by itself: nothing is remembered. */
  readonly moves: boolean;

  constructor(rules: readonly ResidualRule[], unknowns: readonly UnknownValue[]) {
    this.rules = Object.fromEntries(rules.map(({ id, policy }) => [id, policy]));
    this.size = rules.length;
    this.digest = createHash('sha256').update(JSON.stringify(this.rules)).digest('base64');
    this.unknowns = unknowns.filter(({ name }) => rules.some(({ mentions }) => mentions.has(name)));
    this.moves = this.unknowns.some(({ moves }) => moves);
  }

  /** The values of the unknowns, as the context of an evaluation. */
  context(asked: AuthorizationRequest): Record<string, CedarValue> {
    const held: string[] = [];
    const context: Record<string, CedarValue> = { [flags]: held };
    for (const { name, flag, read } of this.unknowns) {
      const value = read(asked);
      if (flag && value) held.push(name);
      if (!flag && value !== undefined) context[name] = value;
    }
    return context;
  }
}
