import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

describe.each(stores)('accounts selected by address, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  const selecting = (address: string, more = ''): string =>
    `accounts?fieldSelector=${encodeURIComponent(`status.email.address=${address}`)}${more}`;
  const namesOf = async (tab: Tab, path: string): Promise<string[]> =>
    (await tab.get(path).is(200)).body.items.map((item: any) => item.status.email.address);
  const create = async (email: string) =>
    (await operator.post('accounts', { spec: { email } }).is(201)).body.metadata.name as string;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'person@example.test')).tab;
    await create('Ann.Lee+x@example.test');
  });
  afterAll(stopAll);

  test('the one with the address, however it is written', async () => {
    for (const address of ['Ann.Lee+x@example.test', 'ann.lee+X@EXAMPLE.test']) {
      expect(await namesOf(operator, selecting(address))).toEqual(['Ann.Lee+x@example.test']);
    }
    expect(await namesOf(operator, selecting('ann.lee@example.test'))).toEqual([]);
    expect(await namesOf(operator, selecting(''))).toEqual([]);
  });

  test('together with a limit, a name and labels', async () => {
    const name = await create('named@example.test');
    const and = (more: string): string =>
      `accounts?fieldSelector=${encodeURIComponent(`status.email.address=named@example.test,${more}`)}`;
    const { body } = await operator.get(selecting('named@example.test', '&limit=1')).is(200);
    expect(body.items).toHaveLength(1);
    expect(body.metadata.continue).toBeUndefined();
    expect(await namesOf(operator, and(`metadata.name=${name}`))).toHaveLength(1);
    expect(await namesOf(operator, and(`metadata.name!=${name}`))).toEqual([]);
    expect(await namesOf(operator, and('status.email.address=person@example.test'))).toEqual([]);
    expect(await namesOf(operator, selecting('named@example.test', '&labelSelector=team'))).toEqual(
      [],
    );
  });

  test('at an earlier version, before the account was there', async () => {
    const { metadata } = (await operator.get('accounts?limit=1').is(200)).body;
    await create('later@example.test');
    const exact = `&resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
    expect(await namesOf(operator, selecting('later@example.test', exact))).toEqual([]);
    expect(await namesOf(operator, selecting('later@example.test'))).toHaveLength(1);
  });

  test('no person finds another by it', async () => {
    expect(await namesOf(person, selecting('person@example.test'))).toHaveLength(1);
    for (const address of ['op@example.test', 'absent@example.test']) {
      expect(await namesOf(person, selecting(address))).toEqual([]);
    }
  });

  test('a watch has the one account, and lets it go with its address', async () => {
    const stream = await new Stream(
      operator,
      selecting('watched@example.test', '&watch=true'),
    ).until(({ code }) => code === 200);
    await create('unwatched@example.test');
    const name = await create('watched@example.test');
    await stream.until(({ events }) => events.length >= 1);
    await operator.delete(`accounts/${name}`).is(200);
    await stream.until(({ events }) => events.length >= 2);
    expect(stream.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      `ADDED ${name}`,
      `DELETED ${name}`,
    ]);
  });

  test('other fields and operators are refused by name', async () => {
    const { message } = await operator
      .get('accounts?fieldSelector=status.passkeys%3D0')
      .fails(400, 'BadRequest');
    expect(message).toBe(
      '"status.passkeys" is not a known field selector: only "metadata.name", "status.email.address", "search"',
    );
    await operator
      .get(`accounts?fieldSelector=${encodeURIComponent('status.email.address!=a@b.test')}`)
      .fails(400, 'BadRequest');
  });
});
