import { expect, test } from '@jest/globals';
import { WatchAuthority } from '../apiserver/handlers/watch/watch-authority.js';
import { followAuthority } from '../cmd/vestibule/serve/follow-authority.js';
import type { Caller } from '../registry/kind.js';

const person: Caller = {
  type: 'Account',
  account: 'bcdfghjklmnpqrstvwxz',
  email: 'ada@example.test',
  operator: false,
  expires: Date.now() + 3_600_000,
};

/** The parts that a replica follows, as the test moves them. */
function replica() {
  let listener: ((change: { key: string }) => void) | undefined;
  let activated = (): void => {};
  let pending: Promise<void> | undefined;
  const groups = { version: 1, indexedGroupsOf: (): readonly string[] => ['staff'] };
  const changes = followAuthority(
    {
      onChange(one) {
        listener = one as typeof listener;
      },
    },
    groups,
    {
      activation: {
        pending: () => pending,
        onChange(one) {
          activated = one;
        },
      },
    },
  );
  return {
    changes,
    groups,
    write: (key: string) => listener?.({ key }),
    /** Receives a policy; returns the function that activates it. */
    receive(): () => void {
      let resolve = (): void => {};
      pending = new Promise((done) => {
        resolve = done;
      });
      return () => {
        pending = undefined;
        activated();
        resolve();
      };
    },
  };
}

test('a check waits for a policy that was received, and nothing holds until then', async () => {
  const { changes, receive } = replica();
  let checks = 0;
  const authority = new WatchAuthority(
    async () => {
      checks += 1;
      return person;
    },
    person,
    changes,
  );
  changes.subscribe(() => authority.invalidate());
  expect(authority.holds()).toBe(false); // until what came before it is checked
  expect(await authority.check()).toBe(true);
  expect(authority.holds()).toBe(true);
  checks = 0;
  const activate = receive();
  expect(authority.holds()).toBe(false);
  const checked = authority.check();
  await new Promise(setImmediate);
  expect(checks).toBe(0);
  activate();
  expect(await checked).toBe(true);
  expect(checks).toBe(1);
  expect(authority.holds()).toBe(true);
});

test('a change during a check is checked too', async () => {
  const { changes, groups } = replica();
  const callers: (Caller | undefined)[] = [person, undefined];
  const authority = new WatchAuthority(
    async () => {
      if (callers.length === 2) groups.version += 1;
      return callers.shift();
    },
    person,
    changes,
  );
  changes.subscribe(() => authority.invalidate());
  groups.version += 1;
  expect(authority.holds()).toBe(false);
  expect(await authority.check()).toBe(false); // its groups changed after the first one began
  expect(await authority.check()).toBe(false);
});

test.each([
  'objects/accounts/bcdfghjklmnpqrstvwxz',
  'objects/sessions/bcdfghjklmnpqrstvwxz-abc',
  'objects/grants/bcdfghjklmnpqrstvwxz-app',
  'objects/passkeys/bcdfghjklmnpqrstvwxz-abc',
])('%s concerns the account alone', (key) => {
  const { changes, write } = replica();
  const noticed: boolean[][] = [];
  const other = { ...person, account: 'bcdfghjklmnpqrstvwxb' } as Caller;
  changes.subscribe((concerns) => noticed.push([person, other].map(concerns)));
  write(key);
  write('objects/clients/app');
  expect(noticed).toEqual([[true, false]]);
});

test('a change of Groups concerns whose groups it changes', () => {
  const { changes, groups } = replica();
  const noticed: boolean[][] = [];
  const callers = [{ ...person, groups: ['staff'] } as Caller, { ...person, groups: [] } as Caller];
  changes.subscribe((concerns) => noticed.push(callers.map(concerns)));
  groups.version += 1;
  expect(changes.settle()).toBeUndefined();
  expect(noticed).toEqual([[false, true]]);
});
