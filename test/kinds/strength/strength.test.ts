import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { Account } from '../../../kinds/people/account/account.js';
import { Group } from '../../../kinds/people/group/group.js';
import { phishingResistant } from '../../../kinds/people/session/acr.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { StatusError } from '../../../registry/status/status.js';
import { clock } from '../../support/clock.js';
import fc from '../../support/fast-check.js';
import type { Authenticator } from '../../support/people/authenticator.js';
import { startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';
import { World } from './world.js';

/** The number of random sequences on each store; the promise was checked over ten thousand. */
const sequences = Number(process.env.VESTIBULE_SEQUENCES ?? 150);

jest.setTimeout(Math.max(120_000, sequences * 400));

const hour = 3_600_000;
const waitMs = 48 * hour;
const namedPerGroup = 900;

/** The addresses of a sequence: 0 and 1 are no one's, 2 is in other letters 0, a Group names 3. */
const at = fc.nat(3);
const one = fc.nat(3);
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ does: fc.constant('mail' as const), at }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('mail with passkey' as const), at }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('passkey' as const), one }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('add' as const), one }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('move' as const), one, at }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), one }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('recover' as const), one }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('finish' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('invite' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('wait' as const),
      hours: fc.constantFrom(1, 12, 47, 49),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What the model knows: when who holds an address, and what a passkey is worth by itself, is full. */
class Model {
  /** By address: whether an account ever held it. */
  readonly held = new Set<string>();
  readonly invited = new Set<string>();
  /** By account: when its address is full. */
  readonly full = new Map<string, number>();
  readonly sessions: string[] = [];
  readonly passkeys: { authenticator: Authenticator; full: number }[] = [];
  readonly recoveries: string[] = [];
  readonly named: string;
  phrCount = 0;

  constructor(named: string) {
    this.named = named;
  }

  /** `account` takes an address now. */
  takes(account: string, email: string): void {
    const address = email.toLowerCase();
    const isNamed = address === this.named;
    const waits = isNamed || (this.held.has(address) && !this.invited.has(address));
    this.held.add(address);
    this.full.set(account, waits ? Date.now() + waitMs : 0);
  }

  /** A sign-in at an address accepts its Invitation, which vouches where no Group names it. */
  accepts(account: string, email: string): void {
    const address = email.toLowerCase();
    if (this.invited.delete(address) && address !== this.named) this.full.set(account, 0);
  }
}

const pick = <T>(from: readonly T[], index: number): T | undefined =>
  from.length === 0 ? undefined : from[from.length - 1 - (index % from.length)];

describe.each(stores)('strength at an address, on %s', (store) => {
  let service: TestService;
  let world: World;
  let run = 0;
  let phrCount = 0;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    world = new World(service);
    for (let from = 0; from < sequences * 2; from += namedPerGroup) {
      await service.store.change(service.store.systemCall(), (tx) =>
        tx.create(Group, {
          metadata: { name: `leads-${from}` },
          spec: {
            displayName: 'Leads',
            members: Array.from({ length: namedPerGroup }, (_, i) => `n${from + i}@example.test`),
          },
        }),
      );
    }
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  const addressOf = async (account: string): Promise<string> =>
    (await service.store.reader(Account).get(account))!.status.email.address;

  /** Does one step; what the API refuses changes nothing. */
  async function take(model: Model, addresses: readonly string[], does: Step): Promise<void> {
    const session = 'one' in does ? pick(model.sessions, does.one) : undefined;
    const caller = session === undefined ? undefined : await world.callerOf(session);
    const email = 'at' in does ? addresses[does.at]! : '';
    switch (does.does) {
      case 'mail':
      case 'mail with passkey': {
        const signedIn = await world.signInByMail(email);
        expect(signedIn.acr).not.toBe(phishingResistant);
        const isNew = !model.full.has(signedIn.account);
        if (isNew) model.takes(signedIn.account, email);
        model.accepts(signedIn.account, email);
        if (does.does === 'mail with passkey') {
          const full = isNew ? 0 : Date.now() + waitMs;
          model.passkeys.push({ authenticator: await world.addInSetup(signedIn), full });
        }
        model.sessions.push(await world.sessionOf(signedIn));
        return;
      }
      case 'passkey': {
        const used = pick(model.passkeys, does.one);
        if (!used) return;
        const signedIn = await world.signInByPasskey(used.authenticator);
        const wasFull = model.full.get(signedIn.account)!;
        model.accepts(signedIn.account, await addressOf(signedIn.account));
        if (signedIn.acr === phishingResistant) {
          model.phrCount += 1;
          expect(Date.now()).toBeGreaterThanOrEqual(Math.max(wasFull, used.full));
        }
        model.sessions.push(await world.sessionOf(signedIn));
        return;
      }
      case 'add': {
        if (!caller) return;
        const full = caller.assurance === phishingResistant ? 0 : Date.now() + waitMs;
        model.passkeys.push({ authenticator: await world.addInSession(caller), full });
        return;
      }
      case 'move': {
        if (!caller) return;
        const isSame = (await addressOf(caller.account)).toLowerCase() === email.toLowerCase();
        await world.move(caller, email);
        if (!isSame) model.takes(caller.account, email);
        return;
      }
      case 'delete':
        if (caller) await world.delete(caller);
        return;
      case 'recover':
        if (caller) model.recoveries.push(await world.startRecovery(caller));
        return;
      case 'finish':
        for (const recovery of model.recoveries) await world.finishRecovery(recovery);
        return;
      case 'invite': {
        const call = service.store.systemCall();
        await service.store.change(call, (tx) =>
          tx.create(Invitation, {
            metadata: { name: `i-${run}-${model.invited.size}-${call.now}` },
            spec: { email, groups: [], until: toTimestamp(call.now + 300 * hour) },
            status: { phase: 'Pending' },
            internal: undefined,
          }),
        );
        model.invited.add(email.toLowerCase());
        return;
      }
      default:
        clock.advance(does.hours * hour);
    }
  }

  test('is full after the wait and no sooner, in any sequence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        run += 1;
        const named = `n${run}@example.test`;
        const addresses = [
          `a${run}-${store}@example.test`,
          `b${run}-${store}@example.test`,
          `A${run}-${store}@example.test`,
          named,
        ];
        const model = new Model(named);
        for (const does of steps) {
          clock.advance(1_500);
          await take(model, addresses, does).catch((error: unknown) => {
            if (!(error instanceof StatusError)) throw error;
          });
          for (const session of model.sessions) {
            const caller = await world.callerOf(session);
            if (caller?.assurance === phishingResistant) {
              expect(Date.now()).toBeGreaterThanOrEqual(model.full.get(caller.account)!);
            }
          }
        }
        phrCount += model.phrCount;
      }),
      { numRuns: sequences, endOnFailure: false },
    );
    expect(phrCount).toBeGreaterThan(sequences / 10);
  });
});
