import { expect, test } from '@jest/globals';
import { WatchQuota } from '../apiserver/handlers/watch/watch-quota.js';
import { defaultLimits } from '../kinds/limits/limit-settings.js';
import type { Caller } from '../registry/kind.js';
import { LimitRefusals } from '../registry/limits/limit-refusals.js';

test('a refusal of a watch counts under its setting, and names the flag to an operator', () => {
  const limits = { ...defaultLimits, watchesPerSession: 1, watchesPerAccount: 2 };
  const refusals = new LimitRefusals();
  const quota = new WatchQuota({ ...limits, watchesOfPersons: 3 }, refusals);
  const opened = (account: string, session: string, operator: boolean): string => {
    const named = { user: account, owner: account, session, operator };
    const caller: Caller = { type: 'ClusterUser', groups: [], ...named };
    try {
      quota.acquire(caller, '198.18.0.1');
      return 'opened';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const why = 'too many watches are open';
  expect([
    opened('a', 's1', true),
    opened('a', 's1', true),
    opened('a', 's2', true),
    opened('a', 's3', true),
    opened('b', 's4', true),
    opened('c', 's5', true),
    opened('c', 's5', false),
  ]).toEqual([
    'opened',
    `${why}: --limits-watches-per-session is 1`,
    'opened',
    `${why}: --limits-watches-per-account is 2`,
    'opened',
    `${why}: --limits-watches-of-persons is 3`,
    why,
  ]);
  expect(refusals.lastHour(Date.now())).toEqual([
    { name: 'watchesofpersons', setting: 'watchesOfPersons', count: 2 },
    { name: 'watchesperaccount', setting: 'watchesPerAccount', count: 1 },
    { name: 'watchespersession', setting: 'watchesPerSession', count: 1 },
  ]);
});
