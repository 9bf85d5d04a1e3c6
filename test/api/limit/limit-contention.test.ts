import { afterAll, describe, expect, test } from '@jest/globals';
import { countCommits } from '../../support/count-commits.js';
import { begin, mailTo, proceed } from '../../support/people/signin.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const inFlight = 64;

describe.each(stores)('sign-ins at once, on %s', (store) => {
  test.each([1, 18])(
    'at most one commit in a hundred is lost, with clients of %i networks',
    async (networkCount) => {
      const service = await startTest({
        store,
        flags: ['--trusted-proxies', '127.0.0.1', '--limit-factor', '8'],
      });
      await createClient(service, 'app');
      const commits = countCommits(service.storage);
      await Promise.all(
        Array.from({ length: inFlight }, async (_, i) => {
          const tab = service.tab();
          tab.headers = { 'x-forwarded-for': `198.18.${i % networkCount}.${i}` };
          const { I } = await begin(service, { tab });
          const email = `p${i}@example.test`;
          await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
          const { code } = await mailTo(service, email);
          const spec = { method: 'EmailCode', code };
          const { body } = await tab.post(`${I}/login`, { spec }).is(200);
          await proceed(tab, body.status.returnTo);
        }),
      );
      expect(commits.made).toBeGreaterThan(6 * inFlight);
      expect(commits.lost).toBeLessThanOrEqual(commits.made / 100);
    },
  );
});
