import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DecisionObject } from '../../../kinds/policy/policy-decision.js';
import { settles } from '../../support/patience.js';
import { authorizationPath, begin, mailTo, signIn, wrong } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** A policy under which no one may sign in to `closed`. */
const closed = (text: string): string =>
  `${text}\n@id("closed") @message("This app is closed.")\n` +
  'forbid (principal, action == Action::"signIn", resource == Client::"closed");\n';

/** Where the Reference of a page that shows an error is found. */
interface Road {
  readonly code: number;
  fail(): PromiseLike<Answer>;
  /** The action of the PolicyDecision, or nothing: then the log has the Audit-ID. */
  readonly action: string | undefined;
}

describe.each(stores)('the Reference of an error, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    for (const name of ['app', 'closed']) await createClient(service, name);
    operator = (await signIn(service, 'op@example.test')).tab;
    const [{ spec }] = (await operator.get('policies').is(200)).body.items;
    await operator.post('policies', { spec: { cedar: closed(spec.cedar) } }).is(201);
    person = (await signIn(service, 'ada@example.test')).tab;
  });

  const tryCode = async (client: string, isRight: boolean): Promise<Answer> => {
    const { tab, I } = await begin(service, { client });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
    const { code } = await mailTo(
      service,
      'ada@example.test',
      [],
      (mail) => mail.code !== undefined,
    );
    await service.tab().delete('mockmessages').is(200);
    const spec = { method: 'EmailCode', code: isRight ? code : wrong(code) };
    return tab.post(`${I}/login`, { spec });
  };
  const roads: Readonly<Record<string, Road>> = {
    'a refused change of the account page or the console': {
      code: 403,
      fail: () => person.post('policies', { spec: { cedar: 'x' } }),
      action: 'create',
    },
    'an object that one may not see': {
      code: 404,
      fail: () => person.get('clients/app'),
      action: 'get',
    },
    'a sign-in that policy refuses': {
      code: 403,
      fail: () => tryCode('closed', true),
      action: 'signIn',
    },
    'a wrong code': {
      code: 422,
      fail: () => tryCode('app', false),
      action: 'signIn',
    },
    'a request without a sign-in': {
      code: 401,
      fail: () => service.tab().get('clients'),
      action: 'list',
    },
    'an app that one may not use, by a live session': {
      code: 303,
      fail: () => person.navigate(authorizationPath('closed', 'openid', 'x'.repeat(43))),
      action: 'signIn',
    },
    'an unknown path': {
      code: 404,
      fail: () => service.tab().get('/nowhere'),
      action: undefined,
    },
    'an unknown Client, at the provider': {
      code: 400,
      fail: () => service.tab().navigate('/oauth2/auth?client_id=none&response_type=code'),
      action: undefined,
    },
    'an invalid object': {
      code: 422,
      fail: () => person.patch('accounts/~', { spec: { displayName: '' } }),
      action: undefined,
    },
  };
  const found = async (auditID: string): Promise<DecisionObject[]> => {
    const fieldSelector = `status.request.auditID=${auditID}`;
    const query = new URLSearchParams({ fieldSelector });
    return (await operator.get(`policydecisions?${query}`).is(200)).body.items;
  };

  test.each(Object.keys(roads))('finds its record: %s', async (name) => {
    const { code, fail, action } = roads[name]!;
    const answer = await fail();
    expect(answer.code).toBe(code);
    const auditID = String(answer.headers['audit-id']);
    expect(auditID).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    if (action === undefined) return expect(await found(auditID)).toEqual([]);
    const [record] = await settles(
      () => found(auditID),
      (records) => records.length > 0,
    );
    expect(record!.spec.action).toBe(action);
  });

  test('finds a record by an Audit-ID that the caller sent, among all', async () => {
    const headers = { 'audit-id': 'b7e2a7a2-7d64-4a52-9a38-8b6c3e3c3c55' };
    await person.post('policies', { spec: { cedar: 'x' } }, { headers }).is(403);
    const [record] = await settles(
      () => found(headers['audit-id']),
      (records) => records.length > 0,
    );
    expect(record!.spec.action).toBe('create');
  });

  test('finds nothing of others for a person', async () => {
    const answer = await operator.get('clients/absent').is(404);
    const fieldSelector = `status.request.auditID=${String(answer.headers['audit-id'])}`;
    const query = new URLSearchParams({ fieldSelector });
    expect((await person.get(`policydecisions?${query}`).is(200)).body.items).toEqual([]);
  });
});
