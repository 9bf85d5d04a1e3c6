import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limitSettings } from '../../../kinds/limits/limit-settings.js';
import { runtimeLimits } from '../../../kinds/settings/schema.js';
import { Settings } from '../../../kinds/settings/settings.js';
import { limitFlag } from '../../../registry/limits/limit-flag.js';
import { parseLimit } from '../../../registry/limits/limit-settings.js';
import { until } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const path = 'settings/default';
const fixed = 'limits-list-page-size';

/** The least value of each limit; the least of all do not contradict each other. */
const least = Object.fromEntries(runtimeLimits.map((limit) => [limit, limitSettings[limit].min]));

describe.each(stores)('the settings of a service on %s', (store) => {
  let service: TestService;
  let replica: TestService;
  let op: Tab;
  const change = async (spec: object): Promise<any> =>
    (await op.patch(path, { spec }).is(200)).body;
  const limitsAt = (at: TestService) => at.store.settings.limits;

  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '100', `--${fixed}`, '200'],
    });
    replica = await service.replica();
    await createClient(service, 'app');
    op = (await signIn(service, 'op@example.test')).tab;
  });

  test('are one object of operators, which is there before anything was set', async () => {
    const { body } = await op.get(path).is(200);
    expect(body).toMatchObject({ kind: 'Settings', metadata: { generation: 1 }, spec: {} });
    await op.delete(path).fails(405, 'MethodNotAllowed');
    await op
      .post('settings', { metadata: { name: 'other' }, spec: {} })
      .fails(405, 'MethodNotAllowed');
    const { tab: ada } = await signIn(service, 'ada@example.test');
    await ada.get(path).fails(404, 'NotFound');
    await ada.patch(path, { spec: { limits: {} } }).fails(404, 'NotFound');
    await expect(
      service.store.change(service.store.systemCall(), (tx) =>
        tx.create(Settings, { metadata: { name: 'other' }, spec: {} }),
      ),
    ).rejects.toThrow('metadata.name: Invalid value: must be default');
  });

  test('say of each setting in force its value and source', async () => {
    const { status } = (await op.get(path).is(200)).body;
    expect(status.effective).toHaveLength(runtimeLimits.length + 3);
    expect(status.effective).toContainEqual({
      name: fixed,
      field: 'limits.listPageSize',
      value: '200',
      source: 'Flag',
    });
    expect(status.effective).toContainEqual({
      name: 'limits-recovery-wait',
      field: 'limits.recoveryWait',
      value: '48h',
      source: 'Default',
    });
  });

  test('count at the replica that answered a change, and soon at each other', async () => {
    const tooLong = { spec: { displayName: 'x'.repeat(200 << 10) } };
    const codes = async (): Promise<number[]> =>
      Promise.all(
        [service, replica].map(async ({ url }) => {
          const tab = Object.assign(service.tab(), { cookies: op.cookies, base: url });
          return (await tab.patch('clients/app', tooLong)).code;
        }),
      );
    expect(await codes()).toEqual([422, 422]);
    await change({ limits: { requestBodySize: '128Ki' } });
    expect((await codes())[0]).toBe(413);
    await until(async () => (await codes())[1] === 413);
    await change({ limits: { requestBodySize: null } });
    await until(async () => (await codes()).every((code) => code === 422));
  });

  test('bring every limit in force on all replicas, but not what a flag fixes', async () => {
    const set = (spec: object) =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.update(Settings, 'default', (next) => {
          next.spec = spec;
        }),
      );
    const changeable = runtimeLimits.filter((limit) => limit !== 'listPageSize');
    const before = { ...limitsAt(service) };
    await set({ limits: Object.fromEntries(changeable.map((limit) => [limit, least[limit]])) });
    for (const at of [service, replica]) {
      const expected = {
        ...before,
        ...Object.fromEntries(
          changeable.map((limit) => [limit, parseLimit(limitSettings[limit], least[limit])]),
        ),
      };
      await until(async () => limitsAt(at).recoveryWait === expected.recoveryWait);
      expect(limitsAt(at)).toEqual(expected);
    }
    await set({});
    await until(async () =>
      [service, replica].every((at) => limitsAt(at).recoveryWait === before.recoveryWait),
    );
    expect([limitsAt(service), limitsAt(replica)]).toEqual([before, before]);
  });

  test('change the sender, the time zone and the names of people at once', async () => {
    const spec = {
      emailFrom: 'hello@example.test',
      policyTimeZone: 'Europe/Berlin',
      nameFallback: 'Absent',
    };
    await change(spec);
    expect(service.store.settings).toMatchObject(spec);
    await until(async () => replica.store.settings.emailFrom === spec.emailFrom);
    expect(replica.store.settings).toMatchObject(spec);
    await change({ emailFrom: null, policyTimeZone: null, nameFallback: null });
    expect(service.store.settings).toMatchObject({
      policyTimeZone: 'UTC',
      nameFallback: 'LocalPart',
    });
  });

  test('have all faults in one answer of a dry run, each with its field and reason', async () => {
    const spec = {
      policyTimeZone: 'Berlin',
      limits: {
        recoveryWait: '1m',
        mailsPerNetwork: 0,
        emailCodeLifetime: 'soon',
        emailResendWait: '10m',
        interactionLifetime: '5m',
        listPageSize: 300,
      },
    };
    const { message, details } = await op
      .patch(`${path}?dryRun=All`, { spec })
      .fails(422, 'Invalid');
    expect([...new Set(details!.causes!.map(({ field }) => field))].sort()).toEqual([
      'spec.limits.emailCodeLifetime',
      'spec.limits.interactionLifetime',
      'spec.limits.listPageSize',
      'spec.limits.mailsPerNetwork',
      'spec.limits.recoveryWait',
      'spec.policyTimeZone',
    ]);
    expect(message).toContain('must be from 1h to 720h: the owner needs time to see');
    expect(message).toContain('must be at least limits.emailCodeLifetime: a code would outlive');
    expect((await op.get(path).is(200)).body.spec).toEqual({});
  });

  test('refuse a change of what a flag fixes in one sentence, and keep the rest', async () => {
    const { message } = await op
      .patch(path, { spec: { limits: { listPageSize: 300, mailsPerNetwork: 60 } } })
      .fails(422, 'Invalid', 'spec.limits.listPageSize');
    expect(message).toContain(
      'spec.limits.listPageSize: Forbidden: --limits-list-page-size sets it to 200 at every start; ' +
        'take it away there first',
    );
    expect(limitsAt(service)).toMatchObject({ listPageSize: 200, mailsPerNetwork: 20 });
  });

  test('on a dry run say what would be in force, and change nothing', async () => {
    const { body } = await op
      .patch(`${path}?dryRun=All`, { spec: { limits: { mailsPerNetwork: 60 } } })
      .is(200);
    expect(body.status.effective).toContainEqual({
      name: 'limits-mails-per-network',
      field: 'limits.mailsPerNetwork',
      value: '60',
      source: 'Settings',
    });
    expect(limitsAt(service).mailsPerNetwork).toBe(20);
  });

  test('keep what was changed, when and by whom, to go back by it', async () => {
    await change({ limits: { mailsPerNetwork: 60, recoveryWait: '24h' } });
    const { status } = await change({ limits: { mailsPerNetwork: 70, recoveryWait: null } });
    const [last, first] = status.revisions;
    expect([last, first]).toMatchObject([
      {
        changes: [
          { field: 'limits.mailsPerNetwork', from: '60', to: '70' },
          { field: 'limits.recoveryWait', from: '24h' },
        ],
      },
      {
        changes: [
          { field: 'limits.mailsPerNetwork', to: '60' },
          { field: 'limits.recoveryWait', to: '24h' },
        ],
      },
    ]);
    expect(last.revision).toBe(first.revision + 1);
    expect(last.author).toMatch(/^[a-z0-9]{20}$/);
    const { status: same } = await change({ limits: { mailsPerNetwork: 70 } });
    expect(same.revisions[0]).toEqual(last);
  });

  test('are those that each replica says it has, with their source', async () => {
    await change({ limits: { mailsPerNetwork: 70 } });
    await until(async () => {
      const { items } = (await op.get('replicas').is(200)).body;
      return items.every(({ status }: any) =>
        status.settings.some(
          ({ name, value, source }: any) =>
            name === limitFlag('mailsPerNetwork') && value === '70' && source === 'Settings',
        ),
      );
    });
  });

  test('are in force before the first request after a restart', async () => {
    await change({ limits: { mailsPerNetwork: 80 } });
    const another = await service.replica();
    expect(limitsAt(another).mailsPerNetwork).toBe(80);
    await another.stop();
  });
});

const root = join(import.meta.dirname, '../../..');
const folders = ['apiserver', 'cmd', 'kinds', 'mail', 'policy', 'provider', 'registry', 'storage'];

/** What keeps the value of a limit, by file: a change of Settings does not reach it. */
const kept = folders
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  )
  .flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(/this\.#?\w+ =[^;=>]*\blimits\.(\w+)/g),
    ].map(([, limit]) => [file, limit!] as const),
  )
  .filter(([, limit]) => limit in limitSettings);

test('no code keeps a limit that it read, except what a listener gets when it opens', () => {
  expect(kept).toEqual([]);
  const atStart = Object.keys(limitSettings).filter((name) => !(name in least));
  const [, listen] = readFileSync(join(root, 'apiserver/server.ts'), 'utf8').split('  listen(');
  const opened = listen!.slice(0, listen!.indexOf('\n  }'));
  const read = [...opened.matchAll(/\blimits\.(\w+)/g)].map(([, limit]) => limit);
  expect(read.sort()).toEqual(atStart.sort());
});
