/** A rule as the status of a Policy shows it. */
export interface RuleSummary {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly message?: string;
}
