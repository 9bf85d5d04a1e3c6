import { expect, test } from '@jest/globals';
import { EmbeddedCommitter } from '../../storage/embedded/committer.js';
import type { Operation } from '../../storage/embedded/row-encoding.js';
import { logRevision } from '../../storage/embedded/row-encoding.js';
import type { StoreState } from '../../storage/embedded/state.js';
import { bytes } from './drive.js';

interface Flush {
  done(): void;
  fail(error: Error): void;
}

/** A ledger over a database that is written only when the test says so. */
class Held {
  readonly revision = 7;
  readonly published: unknown[] = [];
  readonly outcomes: string[] = [];
  readonly logged: number[] = [];
  #flush: Flush | undefined;
  readonly space = { fits: () => true };
  readonly db = {
    batch: (operations: readonly Operation[]) => {
      for (const { key } of operations) if (key.startsWith('l')) this.logged.push(logRevision(key));
      return new Promise<void>((done, fail) => {
        this.#flush = { done, fail };
      });
    },
  };

  read(): undefined {
    return undefined;
  }
  assertOpen(): void {}
  publish(batches: unknown): void {
    this.published.push(batches);
  }

  /** Commits one key; its outcome is added to `outcomes`. */
  commit(committer: EmbeddedCommitter, key: string): void {
    committer.commit([{ key, is: 'absent' }], [{ put: key, value: bytes('1') }]).then(
      () => this.outcomes.push(`${key} answered`),
      () => this.outcomes.push(`${key} failed`),
    );
  }

  /** The next write to the disk. */
  async flush(): Promise<Flush> {
    while (!this.#flush) await turns();
    const flush = this.#flush;
    this.#flush = undefined;
    return flush;
  }
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 5; i += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};

test('a commit is answered and visible when it is on the disk, not before', async () => {
  const ledger = new Held();
  const committer = new EmbeddedCommitter(ledger as unknown as StoreState, () => undefined);
  ledger.commit(committer, 'a');
  const flush = await ledger.flush();
  await turns();
  expect([ledger.logged, ledger.outcomes, ledger.published.length]).toEqual([[8], [], 0]);
  flush.done();
  await turns();
  expect([ledger.outcomes, ledger.published.length]).toEqual([['a answered'], 1]);
});

test('a commit whose flush fails is not answered, and stops the store', async () => {
  const ledger = new Held();
  const fatal: Error[] = [];
  const committer = new EmbeddedCommitter(ledger as unknown as StoreState, (error) =>
    fatal.push(error),
  );
  ledger.commit(committer, 'a');
  (await ledger.flush()).fail(new Error('the disk is gone'));
  await turns();
  ledger.commit(committer, 'b');
  await turns();
  expect([ledger.outcomes, ledger.published.length, fatal.length]).toEqual([
    ['a failed', 'b failed'],
    0,
    1,
  ]);
});
