import { expect, test } from '@jest/globals';
import { WatchAuthority } from '../apiserver/handlers/watch-authority.js';
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
  const groups = { version: 1 };
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

test('a check waits for a policy that was received, and nothing holds meanwhile', async () => {
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
  expect(authority.holds()).toBe(true);
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
  ['objects/accounts/bcdfghjklmnpqrstvwxz', 'bcdfghjklmnpqrstvwxz'],
  ['objects/sessions/bcdfghjklmnpqrstvwxz-abc', 'bcdfghjklmnpqrstvwxz'],
  ['objects/grants/bcdfghjklmnpqrstvwxz-app', 'bcdfghjklmnpqrstvwxz'],
  ['objects/passkeys/bcdfghjklmnpqrstvwxz-abc', 'bcdfghjklmnpqrstvwxz'],
])('%s concerns the account alone', (key, account) => {
  const { changes, write } = replica();
  const noticed: (string | undefined)[] = [];
  changes.subscribe((one) => noticed.push(one));
  write(key);
  write('objects/clients/app');
  expect(noticed).toEqual([account]);
});
