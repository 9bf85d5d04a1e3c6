import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Served } from '../../faults/served.js';
import { settles } from '../../support/patience.js';
import { authorizationPath } from '../../support/people/signin.js';
import { Tab } from '../../support/people/tab.js';
import { stopAll, temporary } from '../../support/service.js';

describe.each(['UTC', 'Asia/Kolkata', 'America/St_Johns'])(
  'a service in the time zone %s',
  (TZ) => {
    let served: Served;
    beforeAll(async () => {
      served = await Served.start(temporary(), { TZ });
    });
    afterAll(async () => {
      await served.end();
      await stopAll();
    });

    const seconds = (timestamp: string): number => {
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      return Date.parse(timestamp) / 1000;
    };
    const isNow = (timestamp: string): void => {
      expect(Math.abs(seconds(timestamp) - Date.now() / 1000)).toBeLessThan(20);
    };

    test('reports the same times and gives the same lifetimes', async () => {
      const tab = new Tab(served.url, served.baseURL);
      const begun = await tab
        .navigate(authorizationPath('app', 'openid email', 'v'.repeat(43)))
        .is(303);
      for (const line of begun.headers['set-cookie']!) {
        const expires = /expires=([^;]+)/i.exec(line)?.[1];
        if (expires) {
          expect(Math.abs((Date.parse(expires) - Date.now()) / 1000 - 7200)).toBeLessThan(20);
        }
      }
      const I = begun.headers.location!;
      const { metadata, status } = (await tab.get(I).is(200)).body;
      isNow(metadata.creationTimestamp);
      expect(
        Math.abs(seconds(status.expirationTimestamp) - seconds(metadata.creationTimestamp) - 600),
      ).toBeLessThanOrEqual(1);
      const challenge = (
        await tab.post(`${I}/emailchallenge`, { spec: { email: 'zone@example.test' } }).is(200)
      ).body.status.emailChallenge;
      isNow(challenge.sentTimestamp);
      expect(seconds(challenge.expirationTimestamp) - seconds(challenge.sentTimestamp)).toBe(600);
      expect(
        Math.abs(seconds(challenge.resendAfterTimestamp) - seconds(challenge.sentTimestamp) - 60),
      ).toBeLessThanOrEqual(1);
      const mail = await mailIn(tab);
      isNow(mail.sentTimestamp);
      expect(mail.text).toContain(`${challenge.sentTimestamp.slice(11, 16)} UTC`);
      const entered = (
        await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: mail.code } }).is(200)
      ).body;
      await tab.navigate(entered.status.returnTo).is(303);
      const session = (await tab.get('sessions/~').is(200)).body;
      isNow(session.status.authenticationTimestamp);
      expect(
        Math.abs(seconds(session.status.expirationTimestamp) - Date.now() / 1000 - 14 * 86_400),
      ).toBeLessThan(20);
      isNow((await tab.get('accounts/~').is(200)).body.status.lastSignInTimestamp);
    });

    async function mailIn(tab: Tab): Promise<any> {
      const { body } = await settles(
        () => tab.get('mockmessages').is(200),
        ({ body: { items } }) => items.length > 0,
      );
      return body.items[0].status;
    }
  },
);
