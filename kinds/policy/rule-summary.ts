/** A rule as the status of a Policy shows it. */
export interface RuleSummary {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly message?: string;
  /** The message in other languages, by language tag (BCP 47). */
  readonly messages?: Readonly<Record<string, string>>;
}
