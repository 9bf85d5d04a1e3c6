import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import type { Storage } from '../../../storage/storage.js';
import { memberOf } from '../../support/people/member.js';
import { begin, mailTo } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';

afterAll(stopAll);

/** What a commit writes: the folders of its keys, deletions with a minus, sorted. */
type Commit = readonly string[];

function folderOf(write: Parameters<Storage['commit']>[1][number]): string {
  const isPut = 'put' in write;
  const [first, second] = (isPut ? write.put : write.delete).split('/');
  return `${isPut ? '' : '-'}${first}/${second}`;
}

/**
 * A store of its own that records each commit; `during` returns those that were made by then,
 * except for the blocks of limits by network.
 */
async function recorded(): Promise<{
  storage: Storage;
  during(work: () => Promise<unknown>): Promise<Commit[]>;
}> {
  const real = await openEmbedded({ directory: join(temporary(), 'store') });
  let commits: Commit[] = [];
  const storage = new Proxy(real, {
    get: (target, name: keyof Storage) =>
      name === 'commit'
        ? (...[checks, writes]: Parameters<Storage['commit']>) => {
            commits.push(writes.map(folderOf).sort());
            return target.commit(checks, writes);
          }
        : memberOf(target, name),
  });
  return {
    storage,
    async during(work) {
      commits = [];
      await work();
      return commits.filter((keys) => keys.some((key) => !key.startsWith('limits/')));
    },
  };
}

test('a right code, and a consent, are one commit each', async () => {
  const { storage, during } = await recorded();
  const service = await startTest({ storage, flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
  const { tab, I } = await begin(service);
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'one@example.test' } }).is(200);
  const { code } = await mailTo(service, 'one@example.test');
  let returnTo = '';
  const login = await during(async () => {
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    returnTo = body.status.returnTo;
  });
  expect(login).toEqual([expect.arrayContaining(['objects/accounts', 'objects/interactions'])]);
  const { headers } = await tab.navigate(returnTo).is(303);
  const consent = await during(() =>
    tab.post(`${headers.location}/consent`, { spec: { scopes: ['openid', 'email'] } }).is(200),
  );
  expect(consent).toEqual([expect.arrayContaining(['objects/grants', 'objects/interactions'])]);
});

test('a wrong code is counted in the commit before its answer', async () => {
  const { storage, during } = await recorded();
  const service = await startTest({ storage, flags: ['--limit-factor', '1000'] });
  await createClient(service, 'app');
  const { tab, I } = await begin(service);
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'two@example.test' } }).is(200);
  const { code } = await mailTo(service, 'two@example.test');
  const wrong = `${code.slice(0, -1)}${(Number(code.at(-1)) + 1) % 10}`;
  const tried = await during(() =>
    tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong } })
      .fails(422, 'Invalid', 'spec.code'),
  );
  expect(tried).toContainEqual(['limits/wrongcodes-stranger', 'objects/interactions']);
});
