import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { createAccount } from '../../../kinds/people/account/account.js';
import { Group } from '../../../kinds/people/group/group.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { randomName } from '../../../registry/store/random-name.js';
import { clock } from '../../support/clock.js';
import type { Authenticator } from '../../support/people/authenticator.js';
import { signedInByPasskey, signInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import { isNoNotice, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(180_000);

const hour = 3_600_000;
const byMail = 'urn:vestibule:acr:email';

describe.each(stores)('the strength of who takes an address, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test,spare@example.test'],
    });
    await createClient(service, 'app');
  });
  afterEach(async () => {
    await empty();
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  const address = (): string => `t${(number += 1)}-${store}@example.test`;
  const empty = () => service.tab().delete('mockmessages').is(200);

  /** Makes members of a Group of addresses, as an operator's file does. */
  async function nameIn(group: string, ...members: string[]): Promise<void> {
    await service.store.change(service.store.systemCall(), async (tx) => {
      if (await tx.get(Group, group)) {
        await tx.update(Group, group, ({ spec }) => void spec.members.push(...members));
      } else {
        await tx.create(Group, {
          metadata: { name: group },
          spec: { displayName: group, members },
        });
      }
    });
  }

  async function invite(email: string, groups: string[]): Promise<void> {
    const call = service.store.systemCall();
    await service.store.change(call, (tx) =>
      tx.create(Invitation, {
        metadata: { name: `i${(number += 1)}-${store}` },
        spec: { email, groups, until: toTimestamp(call.now + 24 * hour) },
        status: { phase: 'Pending' },
        internal: undefined,
      }),
    );
  }

  /** Signs up at an address with a passkey; the mailbox is empty then. */
  async function signUp(email: string): Promise<{ tab: Tab; authenticator: Authenticator }> {
    const person = await withPasskey(service, email);
    await empty();
    return person;
  }

  /** Reaches an account by its mailbox. */
  async function byMailbox(email: string): Promise<Tab> {
    const { tab } = await signIn(service, email);
    await empty();
    return tab;
  }

  async function changeAddress(tab: Tab, email: string): Promise<void> {
    await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
    const { code } = await mailTo(service, email, [], (mail) => isNoNotice(mail) && !!mail.code);
    await tab.post('accounts/~/email', { spec: { code } }).is(200);
    await empty();
    clock.advance(2_000); // a sign-in in the second in which the others were ended counts as one of them
  }

  /** The acr of a sign-in by the passkey, and the browser that it leaves. */
  async function strengthOf(authenticator: Authenticator): Promise<{ acr: string; tab: Tab }> {
    const { tab } = await signInByPasskey(service, authenticator);
    await empty();
    return { acr: (await tab.get('sessions/~').is(200)).body.status.assurance, tab };
  }

  /**
   * Every road from a mailbox to an address that names more than the mailbox: what was there before,
   * and how the thief's passkey gets there.
   */
  const roads: readonly [string, (email: string) => Promise<Authenticator>][] = [
    [
      'sign-up after a deletion by mail',
      async (email) => {
        await (await byMailbox(email)).delete('accounts/~').is(200);
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'sign-up in other letters after a deletion by mail',
      async (email) => {
        await (await byMailbox(email)).delete('accounts/~').is(200);
        return (await signUp(email.toUpperCase())).authenticator;
      },
    ],
    [
      'sign-up after a change of address by mail',
      async (email) => {
        await changeAddress(await byMailbox(email), address());
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'a strong account moves to an address that a weak one left',
      async (email) => {
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await empty();
        await changeAddress(await byMailbox(email), address());
        await changeAddress(tab, email);
        return authenticator;
      },
    ],
    [
      'a strong account moves to an address whose account was deleted',
      async (email) => {
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await empty();
        await (await byMailbox(email)).delete('accounts/~').is(200);
        await changeAddress(tab, email);
        return authenticator;
      },
    ],
    [
      'a strong account moves there, away and back',
      async (email) => {
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await empty();
        await (await byMailbox(email)).delete('accounts/~').is(200);
        await changeAddress(tab, email);
        const { tab: again } = await strengthOf(authenticator);
        await changeAddress(again, address());
        clock.advance(49 * hour);
        const { tab: full, acr } = await strengthOf(authenticator);
        expect(acr).toBe('phr');
        await changeAddress(full, email);
        return authenticator;
      },
    ],
    [
      'sign-up where a Group names it',
      async (email) => {
        await nameIn('leads', email.toUpperCase());
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'sign-up where a temporary membership names it',
      async (email) => {
        const until = toTimestamp(Date.now() + 24 * hour);
        await nameIn('leads');
        await service.store.change(service.store.systemCall(), (tx) =>
          tx.update(
            Group,
            'leads',
            ({ spec }) => void (spec.temporaryMembers = [{ email, until }]),
          ),
        );
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'a strong account moves to where a Group names it',
      async (email) => {
        await nameIn('leads', email);
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await changeAddress(tab, email);
        return authenticator;
      },
    ],
    [
      'a person signs up where a delegate created the account',
      async (email) => {
        await nameIn('leads', email);
        const call = service.store.systemCall();
        await service.store.change(call, (tx) =>
          createAccount(tx, { name: randomName(20), address: email }),
        );
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'sign-up with an Invitation to fewer Groups than name it',
      async (email) => {
        await nameIn('leads', email);
        await nameIn('readers');
        await invite(email, ['readers']);
        return (await signUp(email)).authenticator;
      },
    ],
  ];

  test.each(roads)('%s: full after the wait and no sooner', async (_road, take) => {
    const email = address();
    const authenticator = await take(email);
    const { acr, tab } = await strengthOf(authenticator);
    expect(acr).toBe(byMail);
    const { items } = (await tab.get('passkeys').is(200)).body;
    for (const { status } of items) {
      expect(Date.parse(status.fullStrengthTimestamp) - Date.now()).toBeGreaterThan(47 * hour);
      expect(status.conditions).toMatchObject([{ type: 'FullStrength', status: 'False' }]);
    }
    clock.advance(47 * hour);
    expect((await strengthOf(authenticator)).acr).toBe(byMail);
    clock.advance(2 * hour);
    expect((await strengthOf(authenticator)).acr).toBe('phr');
  });

  test('where only the settings name it, too, though a Group lists other operators', async () => {
    await nameIn('operators', 'op@example.test');
    const { authenticator } = await signUp('spare@example.test');
    const { acr, tab } = await strengthOf(authenticator);
    expect(acr).toBe(byMail);
    await tab.delete('accounts/~').is(200);
  });

  /** Everyone for whom there is no wait. */
  const vouched: readonly [string, (email: string) => Promise<Authenticator>][] = [
    ['a newcomer', async (email) => (await signUp(email)).authenticator],
    [
      'an account that moves to an address that no one had',
      async (email) => {
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await empty();
        await changeAddress(tab, email);
        expect((await tab.get('sessions/~').is(200)).body.status.assurance).toBe('phr');
        return authenticator;
      },
    ],
    [
      'a newcomer whom a Group names later',
      async (email) => {
        const { authenticator } = await signUp(email);
        await nameIn('leads', email);
        return authenticator;
      },
    ],
    [
      'who is invited to every Group that names the address',
      async (email) => {
        await (await byMailbox(email)).delete('accounts/~').is(200);
        await nameIn('leads', email);
        await invite(email, ['leads']);
        return (await signUp(email)).authenticator;
      },
    ],
    [
      'who is invited after the sign-up, from the next sign-in on',
      async (email) => {
        await nameIn('leads', email);
        const { authenticator } = await signUp(email);
        expect((await strengthOf(authenticator)).acr).toBe(byMail);
        await invite(email, ['leads']);
        await strengthOf(authenticator);
        return authenticator;
      },
    ],
    [
      'who moves to an address that is invited',
      async (email) => {
        await nameIn('leads', email);
        const { tab, authenticator } = await signedInByPasskey(service, address());
        await empty();
        await invite(email, ['leads']);
        await changeAddress(tab, email);
        return authenticator;
      },
    ],
    [
      'whose account an operator created',
      async (email) => {
        await nameIn('leads', email);
        const { tab } = await signIn(service, 'op@example.test');
        await tab.post('accounts', { spec: { email } }).is(201);
        await empty();
        return (await signUp(email)).authenticator;
      },
    ],
  ];

  test.each(vouched)('%s waits for nothing', async (_who, take) => {
    expect((await strengthOf(await take(address()))).acr).toBe('phr');
  });

  test('a change to such an address ends the session that counts in full', async () => {
    const [email, other] = [address(), address()];
    await nameIn('leads', email, other);
    const { tab } = await signedInByPasskey(service, address());
    await empty();
    const copy = service.tab();
    copy.cookies = [...tab.cookies];
    await changeAddress(tab, email);
    await copy.get('accounts/~').fails(401, 'Unauthorized');
    const weak = await byMailbox(address());
    await changeAddress(weak, other);
    expect((await weak.get('accounts/~').is(200)).body.status.email.address).toBe(other);
  });

  test('a recovery that the owner begins ends before the wait of the other', async () => {
    const email = address();
    await (await byMailbox(email)).delete('accounts/~').is(200);
    const { authenticator } = await signUp(email);
    clock.advance(40 * hour);
    const owner = await byMailbox(email);
    await owner.post('accounts/~/recovery', { spec: {} }).is(201);
    await nameIn('leads');
    await invite(email, ['leads']);
    clock.advance(12 * hour);
    await empty();
    expect((await strengthOf(authenticator)).acr).toBe(byMail);
    expect((await strengthOf(authenticator)).acr).toBe(byMail);
  });

  describe('an operator without a passkey', () => {
    const write = (tab: Tab) =>
      tab.post('groups?dryRun=All', {
        metadata: { name: `g${(number += 1)}` },
        spec: { displayName: 'G', members: [] },
      });
    let boss: Authenticator;
    const operator = `operator-${store}@example.test`;
    beforeAll(async () => {
      const email = address();
      boss = (await signUp(email)).authenticator;
      await nameIn('operators', email, operator);
      await byMailbox(operator);
      await write((await strengthOf(boss)).tab).is(201);
    });

    test('is not one by passkey for who deletes the account and signs up again', async () => {
      const thief = await byMailbox(operator);
      await write(thief).fails(403, 'Forbidden');
      await thief.delete('accounts/~').is(200);
      const { tab, authenticator } = await signUp(operator);
      await write(tab).fails(403, 'Forbidden');
      const { tab: strong } = await strengthOf(authenticator);
      await write(strong).fails(403, 'Forbidden');
      clock.advance(49 * hour);
      await write((await strengthOf(authenticator)).tab).is(201);
    });

    test('is not one by passkey for who moves a strong account to the address', async () => {
      const email = `second-${store}@example.test`;
      await nameIn('operators', email);
      const { tab, authenticator } = await signedInByPasskey(service, address());
      await empty();
      await changeAddress(await byMailbox(email), address());
      await changeAddress(tab, email);
      await write(tab).fails(401, 'Unauthorized');
      await write((await strengthOf(authenticator)).tab).fails(403, 'Forbidden');
    });
  });
});

describe.each(stores)('the first operator’s link, on %s', (store) => {
  afterAll(stopAll);
  test('vouches for who opens it', async () => {
    const service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    const email = 'ada@example.test';
    const { tab: former } = await signIn(service, email);
    await former.delete('accounts/~').is(200);
    await service.tab().delete('mockmessages').is(200);
    const { tab, authenticator } = await withPasskey(service, email);
    const [, name, token] = /#([a-z-]+)\.([\w-]{43})$/.exec(
      (await service.inviteFirstOperator())!,
    )!;
    await tab.post(`invitations/${name}/accept`, { spec: { token } }).is(200);
    const strong = await signInByPasskey(service, authenticator);
    expect((await strong.tab.get('sessions/~').is(200)).body.status.assurance).toBe('phr');
  });
});
