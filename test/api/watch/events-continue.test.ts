import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { prefixRange } from '../../../storage/storage.js';
import { until as comesToHold } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('events behind 10,000 of others, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  let own: string;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'ada@example.test')).tab;
    await person.delete('clients/app').fails(404, 'NotFound');
    const prefix = 'events/Client/app/';
    const { storage } = service.store;
    const keys = async () => (await storage.list(prefixRange(prefix))).entries;
    await comesToHold(async () => (await keys()).length > 0);
    const [entry] = await keys();
    own = entry!.value.toString();
    // The newest comes first: all that is written now stands before it.
    const keyOf = (count: number): string => `${prefix}!${String(count).padStart(6, '0')}`;
    for (let from = 0; from < 20_500; from += 100) {
      await storage.commit(
        [],
        Array.from({ length: 100 }, (_, i) => ({
          put: keyOf(from + i),
          value: Buffer.from(`other-${from + i}`),
        })),
      );
    }
  });

  const list = (tab: Tab, fieldSelector: string, more: Record<string, string> = {}) =>
    tab.get(`/api/v1/events?${new URLSearchParams({ fieldSelector, ...more }).toString()}`);

  test.each([
    'involvedObject.kind=Client,involvedObject.name=app',
    'involvedObject.kind=Client',
    '',
  ])('are found page by page, none of which looks like the end before it: "%s"', async (about) => {
    for (const tab of [person, operator]) {
      const found: string[] = [];
      let token: string | undefined;
      let pages = 0;
      do {
        const { body } = await list(tab, about, token ? { continue: token } : {}).is(200);
        found.push(...body.items.map(({ metadata }: any) => metadata.name));
        token = body.metadata.continue;
        pages += 1;
        expect(pages).toBeLessThan(5);
      } while (token);
      expect(pages).toBe(3);
      expect(found.filter((name) => name === own)).toEqual([own]);
    }
  });

  test('go on only for who asked, with the same selector, and in lists of events', async () => {
    const about = 'involvedObject.kind=Client';
    const token = (await list(person, about).is(200)).body.metadata.continue as string;
    const wrong = { continue: token };
    await list(operator, about, wrong).fails(400, 'BadRequest');
    await list(person, '', wrong).fails(400, 'BadRequest');
    await list(person, about, { continue: `${token}A` }).fails(400, 'BadRequest');
    const query = new URLSearchParams({ ...wrong }).toString();
    await person.get(`policydecisions?${query}`).fails(400, 'BadRequest');
    const all = (await list(person, '').is(200)).body.metadata.continue as string;
    await person.get(`policydecisions?continue=${all}`).fails(400, 'BadRequest');
    const listed = (await operator.get('policydecisions?limit=1').is(200)).body.metadata.continue;
    await list(operator, '', { continue: listed }).fails(400, 'BadRequest');
  });
});
