import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { startTest, stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

describe.each(stores)('the warning of open sign-up, on %s', (store) => {
  const warnings = async (flags: readonly string[]): Promise<any[]> => {
    const { logs, stop } = await startTest({ store, flags });
    await stop();
    return logs
      .map((line) => JSON.parse(line))
      .filter(({ message = '' }) => message.startsWith('anyone can sign up'));
  };
  const atPublicAddress = ['--base-url', 'https://id.example.test', '--allow-mock-mail'];

  test('comes at a public address as long as no one has written a policy', async () => {
    expect(await warnings(atPublicAddress)).toEqual([
      expect.objectContaining({
        level: 'warn',
        baseURL: 'https://id.example.test',
        docs: 'docs/how-to/policies.md#who-may-sign-up',
      }),
    ]);
    expect(await warnings([])).toEqual([]);
    const folder = join(temporary(), 'manifests');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'policy.yaml'),
      `apiVersion: id.vestibule.org/v1beta1
kind: Policy
spec: { cedar: 'permit (principal, action, resource);' }
`,
    );
    expect(await warnings([...atPublicAddress, '--manifests', folder])).toEqual([]);
  });
});
