import { createHash } from 'node:crypto';
import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { AuthorizationRequest } from '../model/authorization-request.js';
import type { CedarValue } from '../model/cedar-value.js';
import { trueUnknowns, type UnknownValue } from './unknowns.js';

/** A residual policy of a slice, with the unknowns that its conditions mention. */
export interface ResidualRule {
  readonly id: string;
  readonly policy: PolicyJson;
  readonly mentions: ReadonlySet<string>;
}

/** The residual policies that apply to a request; Cedar evaluates them. */
export class ResidualPolicySet {
  readonly rules: Readonly<Record<string, PolicyJson>>;
  readonly size: number;
  readonly unknowns: readonly UnknownValue[];
  /** Equal for sets of equal rules. */
  readonly digest: string;
  /** True when a rule depends on the time; such decisions are not cached. */
  readonly isTimeDependent: boolean;

  constructor(rules: readonly ResidualRule[], unknowns: readonly UnknownValue[]) {
    this.rules = Object.fromEntries(rules.map(({ id, policy }) => [id, policy]));
    this.size = rules.length;
    this.digest = createHash('sha256').update(JSON.stringify(this.rules)).digest('base64');
    this.unknowns = unknowns.filter(({ name }) => rules.some(({ mentions }) => mentions.has(name)));
    this.isTimeDependent = this.unknowns.some(({ isTimeDependent }) => isTimeDependent);
  }

  /** Returns the values of the unknowns as the context of an evaluation. */
  context(request: AuthorizationRequest): Record<string, CedarValue> {
    const trueNames: string[] = [];
    const context: Record<string, CedarValue> = { [trueUnknowns]: trueNames };
    for (const { name, isBoolean, read } of this.unknowns) {
      const value = read(request);
      if (isBoolean && value) trueNames.push(name);
      if (!isBoolean && value !== undefined) context[name] = value;
    }
    return context;
  }
}
