import client from 'prom-client';
import type { Histogram } from '../counters.js';
import { definitions, type Definition, type MetricName } from './definitions.js';

/** What one series says now. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | Histogram;
}

/** What is asked for each metric at a scrape. */
export type MetricSources = Readonly<
  Record<MetricName, () => readonly Sample[] | Promise<readonly Sample[]>>
>;

interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The metrics of this process and of the service as text (Prometheus text format 0.0.4). */
export class Exposition {
  readonly contentType: string;
  readonly #registry = new client.Registry();
  #scrape: Promise<string> | undefined;

  /**
   * `fault` hears of sources that failed: their metric is then told without a value, and all others
   * as ever.
   */
  constructor(sources: MetricSources, fault: (metric: string, error: unknown) => void) {
    this.contentType = this.#registry.contentType;
    client.collectDefaultMetrics({ register: this.#registry });
    for (const definition of definitions)
      this.#registry.registerMetric(metricOf(definition, sources[definition.name], fault) as never);
  }

  /** The text now; whoever asks while it is made shares it. */
  text(): Promise<string> {
    this.#scrape ??= this.#registry.metrics().finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  /** Takes back what observes the process. */
  stop(): void {
    this.#registry.clear();
  }
}

/** A metric as the library asks for it, whose values are kept elsewhere. */
const metricOf = (
  { name, help, type, labels }: Definition,
  source: MetricSources[MetricName],
  fault: (metric: string, error: unknown) => void,
) => ({
  name,
  help,
  type,
  labelNames: labels,
  aggregator: 'sum',
  async get() {
    let samples: readonly Sample[] = [];
    try {
      samples = await source();
    } catch (error) {
      fault(name, error);
    }
    return {
      name,
      help,
      type,
      aggregator: 'sum',
      values: samples.flatMap((sample) => valuesOf(name, sample)),
    };
  },
  reset() {
    /* nothing is kept here */
  },
});

function valuesOf(metricName: string, { labels = {}, value }: Sample): Value[] {
  if (typeof value === 'number') return [{ metricName, labels, value }];
  let below = 0;
  const buckets = value.bounds.map((le, i) => {
    below += value.counts[i]!;
    return { metricName: `${metricName}_bucket`, labels: { ...labels, le }, value: below };
  });
  const all = below + value.counts.at(-1)!;
  return [
    ...buckets,
    { metricName: `${metricName}_bucket`, labels: { ...labels, le: '+Inf' }, value: all },
    { metricName: `${metricName}_sum`, labels, value: value.sum },
    { metricName: `${metricName}_count`, labels, value: all },
  ];
}
