import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../cmd/vestibule/options/config.js';
import { settings, variableName } from '../../../cmd/vestibule/options/flags.js';
import { shownSettings } from '../../../cmd/vestibule/options/shown-settings.js';
import {
  ReplicaRecorder,
  type ReplicaSources,
} from '../../../cmd/vestibule/serve/replicas/replica-recorder.js';
import { Replica } from '../../../kinds/replica.js';
import { createLog } from '../../../observability/log.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '50'];
const sources: ReplicaSources = {
  settings: () => [],
  totals: () => ({
    signIns: new Map(),
    signInsFailed: new Map(),
    mails: new Map(),
    refusedByRule: new Map(),
    refusedByLimit: new Map(),
  }),
  state: async () => ({
    release: '0.0.0',
    ready: true,
    failedChecks: [],
    store: { driver: 'Etcd', copies: [] },
  }),
};
const namesIn = async (tab: Tab): Promise<string[]> =>
  (await tab.get('replicas').is(200)).body.items.map((item: any) => item.metadata.name);

describe.each(stores)('replicas on %s', (store) => {
  test('each process has one, and takes it away at its end', async () => {
    const service = await startTest({ store, flags });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const [first] = (await tab.get('replicas').is(200)).body.items;
    expect(first.status).toMatchObject({
      ready: true,
      failedChecks: [],
      policy: 'p-1',
      store: { driver: store === 'etcd' ? 'Etcd' : 'Embedded', copies: [{}] },
    });
    expect(first.status.store.copies[0].bytes).toBeGreaterThan(0);
    const another = await service.replica();
    expect(await namesIn(tab)).toHaveLength(2);
    await another.stop();
    expect(await namesIn(tab)).toEqual([first.metadata.name]);
    await service.stop();
  });

  test('one that was killed is gone three minutes after its last write', async () => {
    const service = await startTest({ store, flags });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const before = await namesIn(tab);
    let ago = 170_000;
    const killed = new ReplicaRecorder(
      service.store,
      createLog('fatal'),
      sources,
      () => Date.now() - ago,
    );
    await killed.write();
    expect((await namesIn(tab)).sort()).toEqual([...before, killed.name].sort());
    ago = 181_000;
    await killed.write();
    expect(await namesIn(tab)).toEqual(before);
    ago = 0;
    await killed.write();
    expect(await namesIn(tab)).toContain(killed.name);
    await killed.stop();
    expect(await namesIn(tab)).toEqual(before);
    await service.stop();
  });
});

test('sign-ins, mails and refusals are counted in the minute in which they happen', async () => {
  const service = await startTest({ flags });
  await createClient(service, 'app');
  const before = new Map(service.counts());
  const { tab } = await signIn(service, 'ada@example.test');
  await tab.get('replicas').is(403);
  const added = (name: string): number =>
    (service.counts().get(name) ?? 0) - (before.get(name) ?? 0);
  expect(added('sign_in.succeeded.EmailCode')).toBe(1);
  expect([...service.counts().keys()].filter((name) => name.includes('failed'))).toEqual([]);
  expect(added('policy.refusals')).toBeGreaterThan(0);
  await service.stop();
});

const marker = 'Secr3tMarker';

describe('settings', () => {
  test('have their source, and no secret', async () => {
    const folder = temporary();
    const file = join(folder, 'config.yaml');
    writeFileSync(file, 'shutdownDelayDuration: 7s\n');
    const hidden = settings.filter(({ secret, isPrivate }) => secret || isPrivate);
    expect(hidden.map(({ flag }) => flag).sort()).toEqual([
      'etcd-password',
      'operators',
      'smtp-url',
    ]);
    const config = await loadConfig(['--config', file, '--data-dir', folder, '--port', '81'], {
      VESTIBULE_EMAIL_FROM: 'from@example.test',
      [variableName('operators')]: `${marker}@example.test`,
      [variableName('smtp-url')]: `smtp://u:${marker}@mail.example.test:25`,
    });
    const shown = shownSettings(config);
    const shownAs = Object.fromEntries(
      shown.map(({ name, value, source }) => [name, [source, value]]),
    );
    expect(shownAs).toMatchObject({
      port: ['Flag', '81'],
      'email-from': ['Environment', 'from@example.test'],
      'shutdown-delay-duration': ['File', '7'],
      'smtp-url': ['Environment', '***'],
      operators: ['Environment', '***'],
    });
    const others = settings.filter(({ flag }) => shownAs[flag] === undefined);
    expect(others.map(({ flag }) => flag)).toContain('log-level');
    expect(others.map(({ flag }) => String(config.displayed[flag]))).toEqual(
      others.map((setting) => String(setting.default)),
    );
    expect(JSON.stringify(shown)).not.toContain(marker);
  });

  test('are those of the process, and nothing that it writes holds a secret', async () => {
    const service = await startTest({
      mail: `smtp://u:${marker}@127.0.0.1:1`,
      flags: ['--limit-factor', '50', '--operators', `${marker}@example.test`],
    });
    const [replica, ...others] = await service.store.reader(Replica).list();
    expect(others).toEqual([]);
    expect(replica!.status.settings).toContainEqual(
      expect.objectContaining({ name: 'limit-factor', value: '50', source: 'Flag' }),
    );
    expect(replica!.status.settings).toContainEqual(
      expect.objectContaining({ name: 'smtp-url', value: '***' }),
    );
    expect(JSON.stringify(replica).toLowerCase()).not.toContain(marker.toLowerCase());
    await service.stop();
  });
});
