import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bytesOfDailySignIn, neededBytes } from '../../cmd/vestibule/serve/warnings/space-need.js';
import {
  capacityOf,
  loadOf,
  warnOfSpace,
} from '../../cmd/vestibule/serve/warnings/space-warning.js';
import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import { createLog } from '../../observability/log.js';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

describe.each(stores)('the warning of a store that is too small, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limits-session-idle-lifetime', '24h'] });
    await createClient(service, 'app');
    for (const address of ['ada@example.test', 'bob@example.test']) await signIn(service, address);
  });

  test('counts live sessions as the sign-ins of as many days as they last', async () => {
    expect(await loadOf(service.store)).toEqual({ accounts: 2, grants: 2, signInsPerDay: 2 });
  });

  test('comes where what is needed does not fit, and says what is needed', async () => {
    const needed = Math.ceil(
      neededBytes(await loadOf(service.store), service.store.settings.limits, store),
    );
    const lines: any[] = [];
    const log = createLog('warn', {
      write: (line: unknown) => lines.push(JSON.parse(String(line))) > 0,
    });
    expect(await warnOfSpace(service.store, store, needed, log)).toBe(false);
    expect(lines).toEqual([]);
    expect(await warnOfSpace(service.store, store, needed - 1, log)).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        signInsPerDay: 2,
        neededBytes: needed,
        capacityBytes: needed - 1,
        docs: 'docs/reference/space.md',
        message: expect.stringMatching(store === 'etcd' ? /^the quota of etcd/ : /^the disk/),
      }),
    ]);
  });
});

test('the embedded store may take what it has and what is free', async () => {
  const service = await startTest();
  const directory = '/';
  const sizes = [...(await service.storage.sizes!()).values()];
  const capacity = await capacityOf({ type: 'embedded', directory }, service.storage);
  expect(capacity).toBeGreaterThan(sizes[0]!.bytes);
});

test('etcd may use the smallest quota of its members', async () => {
  const config = { type: 'etcd' } as never;
  const withQuotas = (...quotas: (number | undefined)[]) =>
    ({
      sizes: async () =>
        new Map(
          quotas.map((quota, i) => [
            `etcd-${i}`,
            { bytes: 10, inUse: 5, ...(quota !== undefined && { quota }) },
          ]),
        ),
    }) as never;
  expect(await capacityOf(config, withQuotas(300, 200))).toBe(200);
  expect(await capacityOf(config, withQuotas(undefined, undefined))).toBeUndefined();
});

test('less is needed where less is kept', () => {
  const less = bytesOfDailySignIn({ ...defaultLimits, signInRetention: 86_400_000 });
  expect(bytesOfDailySignIn(defaultLimits) - less).toBeCloseTo(59 * 470);
});
