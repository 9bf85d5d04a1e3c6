import { Chance } from '../chance.js';
import type { Call, Change, History, Item, Step } from './history.js';
import { expectedOf } from './watched.js';

/** What a write does to an object that is there, or that is not. */
function verbFor(held: Change | undefined, chance: Chance): 'create' | 'patch' | 'delete' {
  if (!held) return 'create';
  return chance.next() < 0.2 ? 'delete' : 'patch';
}

/**
 * A history of a store that does all as it should, with calls that overlap and answers that are
 * lost; a revision is shared now and then.
 */
export function simulated(seed: number, length: number): History {
  const chance = new Chance(seed);
  const stands = new Map<string, Change>();
  const log: Change[] = [];
  const calls: Call[] = [];
  let [revision, clock, uids] = [100, 0, 0];
  /** The keys written at the revision under way. */
  let together = new Set<string>();
  for (let i = 0; i < length; i += 1) {
    const key = `h-${chance.between(0, 3)}`;
    const held = stands.get(key);
    const die = chance.next();
    const shares = die < 0.5 && together.size > 0 && !together.has(key) && chance.next() < 0.3;
    if (!shares) {
      clock += chance.between(1, 10);
      together = new Set();
    }
    const span = { start: clock - chance.between(1, 30), end: clock + 0.5 + chance.between(0, 20) };
    if (die < 0.5) {
      const expects = held && chance.next() < 0.4 ? held.revision : undefined;
      const verb = verbFor(held, chance);
      if (!shares) revision += 1;
      together.add(key);
      const uid = held?.uid ?? `u${uids++}`;
      const change: Change = {
        revision,
        key,
        uid,
        ...(verb !== 'delete' && { value: `v${i}`, label: chance.next() < 0.5 ? 'a' : 'b' }),
      };
      log.push(change);
      if (verb === 'delete') {
        stands.delete(key);
      } else {
        stands.set(key, change);
      }
      const facts = {
        type: 'write' as const,
        verb,
        key,
        ...(expects !== undefined && { expects }),
        ...(verb !== 'delete' && { value: `v${i}` }),
      };
      calls.push(
        chance.next() < 0.1
          ? { ...facts, start: span.start, outcome: 'unknown' }
          : { ...facts, ...span, outcome: 'done', uid, ...(verb !== 'delete' && { revision }) },
      );
    } else if (die < 0.6) {
      calls.push({
        type: 'write',
        verb: 'patch',
        key,
        value: `v${i}`,
        expects: 1,
        ...span,
        outcome: 'refused',
      });
    } else if (die < 0.8) {
      calls.push({
        type: 'get',
        key,
        ...span,
        ...(held && { revision: held.revision, value: held.value! }),
      });
    } else {
      const label = chance.next() < 0.5 ? 'a' : undefined;
      const items: Item[] = [...stands.values()]
        .filter((stand) => !label || stand.label === label)
        .map((stand) => ({ key: stand.key, revision: stand.revision, value: stand.value! }));
      calls.push({ type: 'list', ...span, revision, items, ...(label && { label }) });
    }
  }
  const tracks = [{}, { label: 'a' }, { key: 'h-1' }].map((filter, i) => ({
    name: `t${i}`,
    filter,
    steps: stepsOf(log, filter, chance, revision),
  }));
  return { seed, about: 'simulated', calls, log, tracks, faults: [] };
}

function stepsOf(log: readonly Change[], filter: object, chance: Chance, last: number): Step[] {
  const steps: Step[] = [
    { step: 'listed', revision: 100 },
    { step: 'opened', from: 100, at: 'x' },
  ];
  for (const [revision, group] of expectedOf(log, filter)) {
    steps.push(...group);
    if (chance.next() < 0.2) steps.push({ step: 'opened', from: revision, at: 'y' });
  }
  return [...steps, { step: 'reached', revision: last }];
}
