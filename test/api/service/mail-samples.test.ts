import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../../i18n/languages.js';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterEach(stopAll);
afterAll(stopAll);

interface Sample {
  readonly mail: string;
  readonly language: string;
  readonly direction: string;
  readonly subject: string;
  readonly blocks: readonly Readonly<Record<string, string>>[];
}

describe.each(stores)('mails on %s', (store) => {
  let service: TestService;
  const start = async () => {
    service = await startTest({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(service, 'app');
    return (await signIn(service, 'op@example.test')).tab;
  };

  test('operators read each mail in each language with the look in force', async () => {
    const operator = await start();
    const spec = { displayName: 'Harbour', supportURI: 'https://harbour.test/help' };
    await operator.patch('appearances/default', { spec }).is(200);
    const { body } = await operator.get('appearances/default/mails').is(200);
    const items: Sample[] = body.items;
    expect([...new Set(items.map(({ language }) => language))]).toEqual(Object.keys(catalogs));
    expect(items.length % Object.keys(catalogs).length).toBe(0);
    const [german] = items.filter(({ mail, language }) => mail === 'SignIn' && language === 'de');
    expect(german!.blocks.find(({ code }) => code)).toEqual({ code: '12345678' });
    expect(JSON.stringify(german)).toMatch(/Harbour.*https:\/\/harbour\.test\/help/);
    const subjects = items.filter(({ language }) => language === 'en');
    expect(new Set(subjects.map(({ subject }) => subject)).size).toBe(subjects.length);
    for (const { blocks, direction, language } of items) {
      expect(direction).toBe(language === 'ar' ? 'rtl' : 'ltr');
      expect(JSON.stringify(blocks)).not.toMatch(/undefined|NaN|\{\w+\}/);
    }
    const ada = (await signIn(service, 'ada@example.test')).tab;
    await ada.get('appearances/default/mails').fails(403, 'Forbidden');
    await service.tab().get('appearances/default/mails').fails(401, 'Unauthorized');
  });

  test('operators send the mail of a pending invitation again', async () => {
    const operator = await start();
    const email = 'new@example.test';
    const name = 'new';
    await operator.post('invitations', { metadata: { name }, spec: { email } }).is(201);
    await mailTo(service, email);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Invitation, name, ({ status }) => {
        status.deliveryState = 'Failed';
      }),
    );
    await service.tab().delete('mockmessages').is(200);
    const again = await operator.post(`invitations/${name}/mail`, { spec: {} }).is(200);
    expect(again.body.status.deliveryState).toBeUndefined();
    await mailTo(service, email);
    const codes: number[] = [];
    while (codes.at(-1) !== 429 && codes.length < 10) {
      codes.push((await operator.post(`invitations/${name}/mail`, { spec: {} })).code);
    }
    expect(codes).toEqual([200, 200, 200, 429]);
    const ada = (await signIn(service, 'ada@example.test')).tab;
    await ada.post(`invitations/${name}/mail`, { spec: {} }).is(404);
    await signIn(service, email);
    await operator.post(`invitations/${name}/mail`, { spec: {} }).fails(409, 'Conflict');
  });
});
