/** A rule as people see it in the status of a Policy. */
export interface RuleSummary {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly message?: string;
}
