import type { Change, Filter, History, Step, Track } from './history.js';

type Received = Extract<Step, { step: 'received' }>;

/**
 * (5) Every watch is the log filtered by key, label and start: whole revisions, no gap, duplicate
 * or reordering across reconnections and relists.
 */
export function watched(history: History): string[] {
  return history.tracks.flatMap((track) =>
    trackFaults(track, expectedOf(history.log, track.filter)).map(
      (fault) => `${track.name}: ${fault}`,
    ),
  );
}

/** What a watcher with this filter must receive, a group for each revision. */
export function expectedOf(
  log: readonly Change[],
  { key, label }: Filter,
): ReadonlyMap<number, readonly Received[]> {
  const stands = new Map<string, Change>();
  const groups = new Map<number, Received[]>();
  for (const change of log) {
    const before = stands.get(change.key);
    if (change.value === undefined) {
      stands.delete(change.key);
    } else {
      stands.set(change.key, change);
    }
    if (key !== undefined && change.key !== key) continue;
    const selected = (one: Change | undefined): boolean =>
      one?.value !== undefined && (label === undefined || one.label === label);
    const [was, is] = [selected(before), selected(change)];
    if (!was && !is) continue;
    const type = was ? 'MODIFIED' : 'ADDED';
    const received: Received = {
      step: 'received',
      type: is ? type : 'DELETED',
      key: change.key,
      revision: change.revision,
      value: is ? change.value! : before!.value!,
    };
    groups.set(change.revision, [...(groups.get(change.revision) ?? []), received]);
  }
  return groups;
}

const words = ({ type, key, revision, value }: Received): string =>
  `${type} ${key}=${value}@${revision}`;

function trackFaults(
  { steps }: Track,
  expected: ReadonlyMap<number, readonly Received[]>,
): string[] {
  const revisions = [...expected.keys()].sort((a, b) => a - b);
  const faults: string[] = [];
  let done = 0;
  let group: Received[] = [];
  /** The group under way is over: it must be whole. */
  const close = (): void => {
    if (group.length === 0) return;
    const { revision } = group[0]!;
    const [seen, due] = [group.map(words).sort(), (expected.get(revision) ?? []).map(words).sort()];
    if (JSON.stringify(seen) !== JSON.stringify(due)) {
      faults.push(`received ${seen.join(', ')} where the log has ${due.join(', ') || 'nothing'}`);
    }
    done = revision;
    group = [];
  };
  const skipped = (until: number): void => {
    for (const revision of revisions) {
      if (revision > done && revision < until) {
        faults.push(`did not receive ${expected.get(revision)!.map(words).join(', ')}`);
      }
    }
  };
  for (const step of steps) {
    if (step.step === 'opened') {
      close();
      if (step.from !== done) {
        faults.push(`the recorder itself went on from ${step.from} instead of ${done}`);
      }
    } else if (step.step === 'listed') {
      close();
      if (step.revision < done) {
        faults.push(`listed as of ${step.revision} after it had come to ${done}`);
      }
      done = step.revision;
    } else if (step.step === 'reached') {
      close();
      skipped(step.revision + 1);
      done = Math.max(done, step.revision);
    } else {
      if (group.length > 0 && group[0]!.revision !== step.revision) close();
      if (step.revision <= done) {
        faults.push(`received ${words(step)} after it had come to ${done}`);
      } else {
        if (group.length === 0) skipped(step.revision);
        group.push(step);
      }
    }
  }
  close();
  return faults;
}
