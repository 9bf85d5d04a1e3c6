import type { PolicyFault } from './fault.js';
import type { RuleSummary } from './rule-summary.js';

/** The result of checking a text: the formatted text with its rules and warnings, or its faults. */
export type PolicyCheckResult =
  | {
      readonly text: string;
      readonly rules: readonly RuleSummary[];
      readonly warnings: readonly PolicyFault[];
    }
  | { readonly faults: readonly PolicyFault[] };
