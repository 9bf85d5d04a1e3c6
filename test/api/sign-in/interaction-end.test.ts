import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stream } from '../../support/network/stream.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('where a sign-in ended, over %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  /** Signs in as far as returnTo, with a watch on the interaction. */
  async function toReturn(address: string) {
    const begun = await begin(service);
    const stream = await new Stream(begun.tab, `${begun.I}?watch=true`).until(
      ({ events }) => events.length === 1,
    );
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(service, address, [], (status) => status.code !== undefined);
    await service.tab().delete('mockmessages').is(200);
    const { body } = await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    expect(body.status).toMatchObject({ phase: 'Authenticated', returnTo: expect.any(String) });
    return { ...begun, stream, returnTo: body.status.returnTo as string };
  }
  const phasesOf = ({ events }: Stream): string[] =>
    events.map(({ object }) => object.status.phase).filter((phase, i, all) => phase !== all[i - 1]);

  test('is complete where nothing more was asked', async () => {
    await signIn(service, 'ada@example.test');
    const { tab, I, stream, returnTo } = await toReturn('ada@example.test');
    expect((await tab.navigate(returnTo).is(303)).headers.location).toContain('code=');
    await stream.until(({ events }) => events.at(-1)!.object.status.phase === 'Completed');
    expect(phasesOf(stream)).toEqual(['LoginRequired', 'Authenticated', 'Completed']);
    stream.close();
    const { status } = (await tab.get(I).is(200)).body;
    expect([status.phase, status.returnTo, status.next]).toEqual([
      'Completed',
      undefined,
      undefined,
    ]);
    await tab.patch(`${I}/account`, { spec: { displayName: 'x' } }).fails(409, 'Conflict');
    await tab.delete(I).fails(409, 'Conflict');
  });

  test('is the next interaction where consent is asked, which is complete at its end', async () => {
    const { tab, I, stream, returnTo } = await toReturn('grace@example.test');
    const second = (await tab.navigate(returnTo).is(303)).headers.location!;
    const next = second.split('/').at(-1)!;
    await stream.until(({ events }) => events.at(-1)!.object.status.next === next);
    expect(phasesOf(stream)).toEqual(['LoginRequired', 'Authenticated']);
    stream.close();
    expect((await tab.get(I).is(200)).body.status).toMatchObject({ phase: 'Authenticated', next });
    const consent = await new Stream(tab, `${second}?watch=true`).until(
      ({ events }) => events.length === 1,
    );
    const { body } = await tab
      .post(`${second}/consent`, { spec: { scopes: ['openid', 'email'] } })
      .is(200);
    await tab.navigate(body.status.returnTo).is(303);
    await consent.until(({ events }) => events.at(-1)!.object.status.phase === 'Completed');
    consent.close();
    const { status } = (await tab.get(second).is(200)).body;
    expect([status.phase, status.returnTo, status.previous]).toEqual([
      'Completed',
      undefined,
      I.split('/').at(-1),
    ]);
  });

  test('stays aborted where it was declined', async () => {
    const { tab, I, stream } = await toReturn('joan@example.test');
    const { body } = await tab.delete(I).is(200);
    expect((await tab.navigate(body.status.returnTo).is(303)).headers.location).toContain(
      'error=access_denied',
    );
    await stream.until(({ events }) => events.at(-1)!.object.status.phase === 'Aborted');
    stream.close();
    expect((await tab.get(I).is(200)).body.status).not.toHaveProperty('returnTo');
  });
});
