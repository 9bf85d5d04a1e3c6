import { exchange } from '../people/tab.js';

/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A parsed scrape in Prometheus' text format 0.0.4; a line that does not fit it throws. */
export class Scrape {
  readonly text: string;
  readonly types = new Map<string, string>();
  readonly samples: Sample[] = [];

  constructor(text: string) {
    this.text = text;
    for (const line of text.split('\n')) {
      const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/.exec(
        line,
      );
      if (type) {
        if (this.types.has(type[1]!)) throw new Error(`declared twice: ${line}`);
        this.types.set(type[1]!, type[2]!);
        continue;
      }
      if (line === '' || /^# HELP [a-zA-Z_:][\w:]* \S/.test(line)) continue;
      const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+|[Nn]a[Nn]|[+-]?Inf)$/.exec(
        line,
      );
      if (!sample) throw new Error(`not a line of a scrape: ${line}`);
      this.samples.push({
        name: sample[1]!,
        labels: labelsOf(sample[2] ?? ''),
        value: Number(sample[3]!.replace('Inf', 'Infinity')),
      });
    }
  }

  /** The sum of the series of this name that have these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.of(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** The series of this name that have these labels. */
  of(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** The labels of a metric; a histogram is given by its own name. */
  labels(metric: string): Set<string> {
    return new Set(
      this.samples
        .filter(
          ({ name }) =>
            name === metric ||
            (this.types.get(metric) === 'histogram' &&
              new RegExp(`^${metric}_(bucket|sum|count)$`).test(name)),
        )
        .flatMap(({ labels }) => Object.keys(labels)),
    );
  }
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const one = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)",?/.exec(rest);
    if (!one) throw new Error(`not labels: ${text}`);
    labels[one[1]!] = one[2]!.replaceAll(/\\(.)/g, (_, next: string) =>
      next === 'n' ? '\n' : next,
    );
    rest = rest.slice(one[0].length);
  }
  return labels;
}

/** Scrapes the metrics port. */
export async function scrape(url: string): Promise<Scrape> {
  const { code, headers, bytes } = await exchange(url, 'GET', '/metrics', {});
  if (code !== 200 || headers['content-type'] !== 'text/plain; version=0.0.4; charset=utf-8') {
    throw new Error(`no scrape: ${code} ${headers['content-type']}`);
  }
  return new Scrape(bytes.toString());
}
