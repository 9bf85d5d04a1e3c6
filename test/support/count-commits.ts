import type { Storage } from '../../storage/storage.js';

/** How many commits of a store were made, and how many lost on a key with a prefix. */
export interface CommitCounts {
  made: number;
  lost: number;
}

/** Counts from now on the commits of a store that write a key with this prefix, and those that lost on one. */
export function countCommits(storage: Storage, prefix = ''): CommitCounts {
  const counts = { made: 0, lost: 0 };
  const commit = storage.commit.bind(storage);
  storage.commit = async (checks, writes) => {
    const isCounted = writes.some((write) => 'put' in write && write.put.startsWith(prefix));
    const outcome = await commit(checks, writes);
    if (outcome.committed) {
      counts.made += Number(isCounted);
    } else {
      counts.lost += Number([...outcome.winners.keys()].some((key) => key.startsWith(prefix)));
    }
    return outcome;
  };
  return counts;
}
