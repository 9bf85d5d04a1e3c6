import { ServerMeter } from '../../../apiserver/chain/metrics.js';
import { mailOutcomes } from '../../../mail/worker.js';
import { Histogram, Counter } from '../../../observability/counters.js';
import type { StorageMetrics } from '../../../storage/storage.js';

const batchSizes: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Seconds, as a kube-apiserver sorts its calls to etcd by. */
const callSeconds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];

/** What is counted only where there is a metrics port: nobody else pays for it. */
export class StorageCounters implements StorageMetrics {
  readonly server = new ServerMeter();
  readonly mail = new Counter(mailOutcomes);
  readonly batches = new Histogram(batchSizes);
  readonly commits = new Counter(['ok', 'lost', 'unknown', 'refused']);
  readonly calls = new Map<string, { readonly seconds: Histogram; errors: number }>();
  isSupported = true;
  /** Certificates that connections were begun with, in PEM, by what they are for. */
  readonly certificates = new Map<string, string>();

  proves(certificates: Readonly<Record<string, Buffer | undefined>>): void {
    for (const [name, pem] of Object.entries(certificates))
      if (pem) this.certificates.set(name, pem.toString());
  }

  batch(commits: number): void {
    this.batches.observe(commits);
  }
  commit(result: 'ok' | 'lost' | 'unknown' | 'refused'): void {
    this.commits.add(result);
  }
  supported(is: boolean): void {
    this.isSupported = is;
  }

  call(operation: string, milliseconds: number, failed: boolean): void {
    let calls = this.calls.get(operation);
    if (!calls) {
      calls = { seconds: new Histogram(callSeconds), errors: 0 };
      this.calls.set(operation, calls);
    }
    calls.seconds.observe(milliseconds / 1000);
    if (failed) calls.errors += 1;
  }
}
