import type { RuleSummary } from './rule-summary.js';
import type { PolicyFault } from './fault.js';

/** A text that may be put in force, in the usual form; or all that is wrong with it. */
export type Checked =
  | {
      readonly text: string;
      readonly rules: readonly RuleSummary[];
      readonly warnings: readonly PolicyFault[];
    }
  | { readonly faults: readonly PolicyFault[] };
