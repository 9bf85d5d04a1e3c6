import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { seed } from '../../support/random.js';
import { checks } from './check.js';
import { type Call, type History, loadHistory, saveHistory, writesOf } from './history.js';
import { type Plan, type Recorded, record } from './record.js';

/** How long is recorded, in seconds; VESTIBULE_HISTORY_SECONDS says otherwise. */
export const secondsOr = (usual: number): number =>
  Number(process.env['VESTIBULE_HISTORY_SECONDS'] ?? usual);

/**
 * Records a history, keeps it in a file while anything is wrong with it, and checks it.
 * VESTIBULE_HISTORY names one to check again, without a system.
 */
export function historySuite(
  name: string,
  seconds: number,
  prepare: () => Promise<{ plan: Plan; end(): Promise<void> }>,
  further: (recorded: Recorded) => void = () => {},
): void {
  const kept = process.env['VESTIBULE_HISTORY'];
  const file = kept ?? join(tmpdir(), `vestibule-history-${name}-${seed}.json`);
  describe(`a history of ${name}, seed ${seed}`, () => {
    let recorded: Recorded | undefined;
    let history: History;
    let faults = 0;

    beforeAll(
      async () => {
        if (!kept) {
          const { plan, end } = await prepare();
          try {
            recorded = await record(plan);
          } finally {
            await end();
          }
          saveHistory(file, recorded.history);
        }
        history = loadHistory(file);
        faults = 1;
        process.stderr.write(`${history.about}, seed ${history.seed}: ${summary(history)}\n`);
      },
      (seconds + 120) * 1000,
    );

    afterAll(() => {
      if (faults > 1) {
        process.stderr.write(
          `the history is kept in ${file}; VESTIBULE_HISTORY=${file} checks it again\n`,
        );
      } else if (!kept) {
        rmSync(file, { force: true });
      }
    });

    test.each(Object.keys(checks))('%s', (check) => {
      const found = checks[check]!(history);
      faults += found.length;
      expect({ faults: found.length, first: found.slice(0, 5) }).toEqual({ faults: 0, first: [] });
    });

    test('enough happened for the checks to mean something', () => {
      const writes = writesOf(history);
      const outcomes = (of: string): number =>
        writes.filter(({ outcome }) => outcome === of).length;
      expect(Math.min(outcomes('done') / seconds, outcomes('refused') / seconds)).toBeGreaterThan(
        1,
      );
      expect(
        writes.filter(({ outcome, expects }) => outcome === 'done' && expects !== undefined).length,
      ).toBeGreaterThan(5);
      expect(history.faults.length).toBeGreaterThanOrEqual(Math.floor(seconds / 10));
      for (const type of ['get', 'list', 'use', 'signout', 'accepted'] as const) {
        expectFor(type, countOf(history, type) > 0).toEqual(true);
      }
      for (const { name: of, steps } of history.tracks) {
        expectFor(of, [
          steps.filter(({ step }) => step === 'received').length > 5,
          steps.filter(({ step }) => step === 'opened').length > 1,
        ]).toEqual([true, true]);
      }
    });

    test('every answer is right or explained by a fault', () => {
      expect(recorded?.surprises ?? []).toEqual([]);
      if (recorded) further(recorded);
    });
  });
}

const countOf = ({ calls }: History, type: Call['type']): number =>
  calls.filter((call) => call.type === type).length;

function summary(history: History): string {
  const writes = writesOf(history);
  const steps = history.tracks.flatMap((track) => track.steps);
  const count = (what: string, number: number): string => `${number} ${what}`;
  const uses = history.calls.filter((call) => call.type === 'use');
  const shared = history.log.length - new Set(history.log.map(({ revision }) => revision)).size;
  return [
    ...(['done', 'refused', 'unknown'] as const).map((outcome) =>
      count(`writes ${outcome}`, writes.filter((write) => write.outcome === outcome).length),
    ),
    count('gets', countOf(history, 'get')),
    count('lists', countOf(history, 'list')),
    count('changes in the log', history.log.length),
    count('sharing a revision', shared),
    count('events', steps.filter(({ step }) => step === 'received').length),
    count('watches opened', steps.filter(({ step }) => step === 'opened').length),
    count('relists', steps.filter(({ step }) => step === 'listed').length),
    count('uses', uses.length),
    count('sign-outs', countOf(history, 'signout')),
    count('faults', history.faults.length),
  ].join(', ');
}
