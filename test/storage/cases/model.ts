import { expect, test } from '@jest/globals';
import {
  type Check,
  CompactedError,
  type Entry,
  type Revision,
  type Storage,
  type Write,
} from '../../../storage/storage.js';
import fc from '../../support/fast-check.js';
import { bytes, everything } from '../drive.js';
import type { OpenStore } from '../store.js';

const keys = ['a', 'a/b', 'a0', 'b'];

type Snapshot = ReadonlyMap<string, Entry>;
interface DrawnCheck {
  key: string;
  is: 'absent' | 'present' | 'current' | 'stale';
}
type Step =
  | {
      commit: {
        checks: DrawnCheck[];
        writes: [string, string | undefined][];
      };
    }
  | { list: { limit: number | undefined; back: number } }
  | { compact: { back: number } };

const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      commit: fc.record({
        checks: fc.array(
          fc.record({
            key: fc.constantFrom(...keys),
            is: fc.constantFrom(
              'absent' as const,
              'present' as const,
              'current' as const,
              'current' as const,
              'stale' as const,
            ),
          }),
          { maxLength: 2 },
        ),
        writes: fc.uniqueArray(
          fc.tuple(
            fc.constantFrom(...keys),
            fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
          ),
          { selector: ([key]) => key, maxLength: 3 },
        ),
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      list: fc.record({
        limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
        back: fc.nat(4),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ compact: fc.record({ back: fc.nat(5) }) }) },
);

/** Random runs against a model that keeps every state in memory. */
export function modelCases(open: OpenStore): void {
  test('a store behaves as its model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepOf, { maxLength: 40 }), async (steps) => {
        const store = await open();
        try {
          const model = new Model(store.storage, (await store.storage.get('a')).revision);
          for (const step of steps) await model.take(step);
        } finally {
          await store.close();
        }
      }),
      { numRuns: 30 },
    );
  });
}

class Model {
  readonly #storage: Storage;
  readonly #states: [Revision, Snapshot][];
  #oldest = 0;

  constructor(storage: Storage, revision: Revision) {
    this.#storage = storage;
    this.#states = [[revision, new Map()]];
  }

  async take(step: Step): Promise<void> {
    if ('commit' in step) {
      await this.#commit(step.commit);
    } else if ('list' in step) {
      await this.#list(step.list);
    } else {
      await this.#compact(this.#back(step.compact.back)[0]);
    }
    for (const key of keys) {
      expect((await this.#storage.get(key)).entry).toEqual(this.#now.get(key));
    }
  }

  get #now(): Snapshot {
    return this.#states.at(-1)![1];
  }

  #back(steps: number): [Revision, Snapshot] {
    return this.#states.at(-1 - Math.min(steps, this.#states.length - 1))!;
  }

  async #commit({ checks, writes }: Extract<Step, { commit: unknown }>['commit']): Promise<void> {
    const asked: Check[] = checks.map((check) => ({
      key: check.key,
      is: this.#expectation(check),
    }));
    const failed = new Set(
      asked.filter(({ key, is }) => !this.#holds(key, is)).map(({ key }) => key),
    );
    const result = await this.#storage.commit(
      asked,
      writes.map(
        ([key, value]): Write =>
          value === undefined ? { delete: key } : { put: key, value: bytes(value) },
      ),
    );
    expect(result.committed).toBe(failed.size === 0);
    if (result.committed) {
      this.#apply(result.revision, writes);
    } else {
      expect(result.winners).toEqual(new Map([...failed].map((key) => [key, this.#now.get(key)])));
    }
  }

  #expectation({ key, is }: DrawnCheck): Check['is'] {
    if (is === 'current') return this.#now.get(key)?.revision ?? 'absent';
    return is === 'stale' ? 1 : is;
  }

  #holds(key: string, is: Check['is']): boolean {
    const entry = this.#now.get(key);
    if (is === 'absent') return !entry;
    return is === 'present' ? entry !== undefined : entry?.revision === is;
  }

  #apply(revision: Revision, writes: readonly [string, string | undefined][]): void {
    const next = new Map(this.#now);
    for (const [key, value] of writes) {
      if (value === undefined) {
        next.delete(key);
      } else {
        next.set(key, { key, value: bytes(value), revision });
      }
    }
    const changed = writes.some(([key, value]) => value !== undefined || this.#now.has(key));
    expect(revision).toBeGreaterThanOrEqual(this.#states.at(-1)![0] + (changed ? 1 : 0));
    this.#states.push([revision, next]);
  }

  async #list({ limit, back }: Extract<Step, { list: unknown }>['list']): Promise<void> {
    const [at, state] = this.#back(back);
    const asked = this.#storage.list(everything, {
      ...(limit !== undefined && { limit }),
      ...(back > 0 && { at }),
    });
    if (back > 0 && at < this.#oldest) return expect(asked).rejects.toBeInstanceOf(CompactedError);
    const expected = [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    expect(await asked).toMatchObject({
      entries: expected.slice(0, limit),
      more: Math.max(0, expected.length - (limit ?? expected.length)),
    });
  }

  async #compact(revision: Revision): Promise<void> {
    await this.#storage.compact(revision);
    this.#oldest = Math.max(this.#oldest, revision);
  }
}
