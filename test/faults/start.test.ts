import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { startEtcd } from '../storage/etcd-server.js';
import { Following } from '../support/command.js';
import { testKeys } from '../support/keys.js';
import { stopAll, temporary } from '../support/service.js';

afterAll(stopAll);

test('a service that starts before etcd says so, and is ready once etcd answers', async () => {
  const etcd = await startEtcd();
  await etcd.kill();
  const keys = join(temporary(), 'keys.json');
  writeFileSync(keys, JSON.stringify(testKeys()), { mode: 0o600 });
  const service = new Following(
    [
      'serve',
      '--port=0',
      '--base-url=http://localhost:1',
      `--keys-file=${keys}`,
      '--mock-mail',
      '--allow-mock-mail',
      `--etcd-servers=${etcd.endpoint}`,
    ],
    {},
  );
  try {
    await service.until((text) => text.includes(`etcd at ${etcd.endpoint} does not answer`));
    await service.until((text) => text.includes('the store is not available; starting again'));
    expect(service.text).not.toContain('ready');
    await etcd.restart();
    await service.until((text) => /^ready /m.test(text), 60_000);
  } finally {
    await service.stop();
    await etcd.stop();
  }
});
