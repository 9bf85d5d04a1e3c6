import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../../kinds/index.js';
import type { Account } from '../../../kinds/people/account/account.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { openEngine } from '../../../policy/engine/engine.js';
import { replay } from '../../../policy/shadow/replay.js';
import { encode } from '../../../registry/encoded-object.js';
import type { ObjectOf } from '../../../registry/kind.js';
import type { Store } from '../../../registry/store/store.js';
import { hubOf } from '../../../registry/versions/kind-view.js';
import { prefixRange, type Range, type Storage } from '../../../storage/storage.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { Stopwatch } from '../../support/stopwatch.js';
import { isQuick } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];

/** The decisions that are tried while others are answered: fewer in a quick run. */
const many = isQuick ? 20_000 : 100_000;

describe('trying a text on what was decided', () => {
  let service: TestService;
  let operator: Tab;
  let account: ObjectOf<typeof Account>;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      flags: [...flags, '--limits-policy-replay', '5m'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    account = (await operator.get('accounts/~').is(200)).body;
  });

  /**
   * Writes recorded decisions straight into the store: people who read their own account, and every
   * tenth who was refused a Client.
   */
  async function fill(count: number, from = 0): Promise<void> {
    const stamp = '2026-01-01T00:00:00Z';
    for (let i = from; i < from + count; i += 100) {
      await service.storage.commit(
        [],
        Array.from({ length: Math.min(100, from + count - i) }, (_, j) => {
          const [n, refused] = [i + j, (i + j) % 10 === 0];
          const owner = `person${String(n % 1000).padStart(14, 'x')}`.replaceAll(/[^a-z0-9]/g, 'x');
          const object: DecisionObject = {
            metadata: {
              name: `${owner}-${n}`,
              uid: account.metadata.uid,
              resourceVersion: '0',
              generation: 1,
              creationTimestamp: stamp,
            },
            internal: {},
            spec: {
              account: owner,
              principal: `Account::"${owner}"`,
              action: 'get',
              resource: refused
                ? { kind: 'Client', name: 'app' }
                : { kind: 'Account', name: owner },
              policy: 'p-1',
              input: {
                caller: { type: 'Account', name: owner },
                name: refused ? 'app' : owner,
                facts: {
                  domain: n % 2 ? 'odd.test' : 'even.test',
                  methods: ['EmailCode'],
                  authenticated: 1,
                },
              },
            },
            status: {
              allowed: !refused,
              reasons: [],
              count: 1,
              firstTimestamp: stamp,
              lastTimestamp: stamp,
            },
          };
          return {
            put: `objects/policydecisions/${object.metadata.name}`,
            value: encode(hubOf(PolicyDecision), object),
          };
        }),
      );
    }
  }

  async function impact(rule: string): Promise<any> {
    const text = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    return (
      await operator.post('policies?dryRun=All', { spec: { cedar: `${text}\n${rule}\n` } }).is(201)
    ).body.status.impact;
  }

  test('names what flips, and counts what cannot be put to it', async () => {
    await fill(2_000);
    const same = await impact(
      '@id("none") permit (principal == Account::"absent", action, resource);',
    );
    expect(same).toMatchObject({ nowRefused: [], nowAllowed: [], undecidable: 0 });
    expect(same.replayed).toBe(same.unchanged);
    expect(same.replayed).toBeGreaterThanOrEqual(2_000);
    const odd = await impact(
      '@id("odd") @message("No.") forbid (principal is Account, action == Action::"get", resource is Account) when { context.domain == "odd.test" };',
    );
    expect(odd.nowRefused.length + (odd.unnamed?.nowRefused ?? 0)).toBe(1_000);
    const wider = await impact(
      '@id("wider") permit (principal is Account, action == Action::"get", resource is Client) when { context.domain == "even.test" };',
    );
    expect([wider.nowAllowed.length, wider.nowRefused.length]).toEqual([200, 0]);
    expect(odd.replayed - odd.unchanged - odd.undecidable).toBe(1_000);
  });

  test('what is not reached in time is counted, and not read', async () => {
    await fill(300);
    const { store, storage } = service;
    const { limits } = store.settings;
    let reads = 0;
    const late = {
      registry: store.registry,
      settings: { ...store.settings, limits: { ...limits, policyReplay: -1 } },
      storage: {
        count: (range: Range) => storage.count(range),
        list: (...query: Parameters<Storage['list']>) => {
          reads += 1;
          return storage.list(...query);
        },
      },
    } as unknown as Store;
    const result = await replay(await openEngine(kinds, actions), late, '', async () => new Map());
    const recorded = await storage.count(prefixRange('objects/policydecisions/'));
    expect(recorded).toBeGreaterThanOrEqual(300);
    expect(result).toMatchObject({ replayed: 0, notReached: recorded });
    expect(reads).toBe(1);
  });

  test('evaluates at the time of the decision', async () => {
    const before = await impact(
      '@id("then") @message("No.") forbid (principal is Account, action == Action::"get", resource is Account) when { context.now < datetime("2026-01-02") };',
    );
    expect(before.nowRefused.length + (before.unnamed?.nowRefused ?? 0)).toBe(1_800);
  });

  test(`${many.toLocaleString('en')}, while others are answered`, async () => {
    await fill(many - 2_000, 2_000);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const trial = { done: false };
    let [longest, asked] = [0, 0];
    delay.enable();
    const begun = performance.now();
    const trying = impact(
      '@id("odd") @message("No.") forbid (principal is Account, action == Action::"get", resource is Account) when { context.domain == "odd.test" };',
    ).finally(() => {
      trial.done = true;
    });
    while (!trial.done) {
      const stopwatch = new Stopwatch();
      await operator.get('clients/app').is(200);
      longest = Math.max(longest, stopwatch.milliseconds);
      asked += 1;
    }
    const result = await trying;
    process.stdout.write(
      `${many} decisions: ${Math.round(performance.now() - begun)} ms, ${asked} requests in between, the longest ${Math.round(longest)} ms; loop delay max ${Math.round(delay.max / 1e6)} p99 ${Math.round(delay.percentile(99) / 1e6)} ms\n`,
    );
    expect(result.replayed + (result.notReached ?? 0)).toBeGreaterThanOrEqual(many);
    expect(result.notReached ?? 0).toBe(0);
    expect(result.nowRefused.length + result.unnamed.nowRefused).toBe(many / 2);
    expect(asked).toBeGreaterThan(many / 5_000);
  }, 120_000);
});
