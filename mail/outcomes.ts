import type { Metrics } from '../observability/metrics/metrics.js';

type Outcome = 'Sent' | 'Kept' | 'Deferred' | 'Failed' | 'Unknown';

/** Counts mails by their outcome since the start, also without a metrics port. */
export class MailOutcomes {
  readonly #metric: Metrics['mail'] | undefined;
  /** The tries since the start by outcome. */
  readonly counts = new Map<Outcome, number>();
  /** When the mail server last accepted a mail, in ms since the epoch. */
  lastAcceptedAt: number | undefined;
  /** Called when the mail server accepted the first mail since the start. */
  onFirstAccepted: () => void = () => {};

  constructor(metric?: Metrics['mail']) {
    this.#metric = metric;
  }

  /** Counts one try to send a mail. */
  count(outcome: Outcome): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
    this.#metric?.inc({ outcome });
    if (outcome === 'Sent') this.#accepted();
  }

  #accepted(): void {
    const isFirst = this.lastAcceptedAt === undefined;
    this.lastAcceptedAt = Date.now();
    if (isFirst) this.onFirstAccepted();
  }
}
