import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Metrics, requestSeconds, responseBytes } from '../../../observability/metrics/metrics.js';
import { checkVersion, parseVersion } from '../../../storage/etcd/version.js';
import { makeCertificate } from '../../support/cluster/issue-certificate.js';
import { expectFor } from '../../support/expect-for.js';
import type { Scrape } from '../../support/network/scrape.js';
import { Stream } from '../../support/network/stream.js';
import { settles } from '../../support/patience.js';
import { passkeyLogin, signInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import {
  type Begun,
  begin,
  mailTo,
  proceed,
  redeem,
  signIn,
  wrong,
} from '../../support/people/signin.js';
import { exchange } from '../../support/people/tab.js';
import { startTest, stopAll, type TestService, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';
import { endWatched, etcdBehind, startWatched, type Watched } from '../../support/watched.js';

afterAll(async () => {
  await endWatched();
  await stopAll();
});

const { definitions } = new Metrics();

const kinds = new Set([
  'interactions',
  'sessions',
  'accounts',
  'passkeys',
  'grants',
  'policydecisions',
  'policies',
  'clients',
  'claimsproviders',
  'claimsreviews',
  'groups',
  'mockmessages',
]);

describe.each(stores)('metrics on %s', (store) => {
  let service: Watched;
  let before: Scrape;
  let after: Scrape;
  const secrets: string[] = [];
  const names: string[] = [];

  beforeAll(async () => {
    service = await startWatched(store, [
      '--operators',
      'op@example.test',
      '--secure-port',
      ...(store === 'etcd' ? ['0', ...certificate()] : ['0']),
    ]);
    before = await service.scrape();
    const { done } = await byCode(service, secrets, names);
    const tokens = await redeem(service, done);
    secrets.push(
      tokens.body.access_token,
      tokens.body.id_token,
      done.callback.searchParams.get('code')!,
      done.verifier,
    );
    expect([tokens.code, (await redeem(service, done)).code]).toEqual([200, 400]);
    const { authenticator, tab, name, account } = await withPasskey(
      service as unknown as TestService,
      'key@example.test',
    );
    names.push(name, account);
    await signInByPasskey(service as unknown as TestService, authenticator);
    const lied = await passkeyLogin(service as unknown as TestService, authenticator, {
      lies: { clientData: { origin: 'https://evil.test' } },
    });
    await lied.answer.is(422);
    await lied.begun.tab.post(`${lied.begun.I}/login`, lied.sent).is(422);
    await tab.patch(`passkeys/${name}`, { spec: { displayName: 'Mine' } }).is(200);
    await tab.patch(`passkeys/${name}?dryRun=All`, { spec: { displayName: 'Yours' } }).is(200);
    await tab.get('clients/app/x/y').fails(404, 'NotFound');
    await tab.get(`accounts/${'a'.repeat(20)}`).fails(404, 'NotFound');
    await tab.send('PURGE', '/api/v1beta1/clients');
    await tab
      .get('accounts/~', { plain: true, headers: { authorization: 'Bearer nonsense' } })
      .fails(401, 'Unauthorized');
    secrets.push(...tab.cookies.map(({ value }) => value));
    after = await service.scrape();
  });

  const moved = (name: string, labels: Record<string, string> = {}): number =>
    after.sum(name, labels) - before.sum(name, labels);

  test('every definition is exposed, with its type and its labels and no others', async () => {
    for (const { name, type, labels } of definitions) {
      expectFor(name, after.types.get(name)).toEqual(type);
      const exposedLabels = [...after.labels(name)].filter((label) => label !== 'le').sort();
      if (exposedLabels.length > 0) expectFor(name, exposedLabels).toEqual([...labels].sort());
    }
    const silent = definitions
      .filter(
        ({ name, type }) => after.of(type === 'histogram' ? `${name}_count` : name).length === 0,
      )
      .map(({ name }) => name);
    const ofEtcd = ['etcd_request_duration_seconds', 'etcd_request_errors_total'];
    const [, minor] = parseVersion((await etcdBehind()).version);
    const tellsQuota = store === 'etcd' && minor >= 6;
    expect(silent.sort()).toEqual(
      [
        'apiserver_longrunning_requests',
        'apiserver_watch_events_total',
        'apiserver_terminated_watchers_total',
        'vestibule_limit_refusals_total',
        'vestibule_manifest_applied',
        ...(store === 'embedded' ? ofEtcd : []),
        ...(tellsQuota ? [] : ['vestibule_storage_quota_bytes']),
      ].sort(),
    );
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(after.of(name)).toHaveLength(1);
    }
  });

  test('sign-ins move what counts them, by what became of them', () => {
    expect(
      after
        .of('vestibule_sign_ins_total')
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [labels.method, labels.outcome, value]),
    ).toEqual([
      ['EmailCode', 'SignedIn', 2],
      ['EmailCode', 'Wrong', 1],
      ['EmailCode', 'Expired', 1],
      ['Passkey', 'SignedIn', 1],
      ['Passkey', 'Wrong', 2],
    ]);
    expect(moved('vestibule_sign_in_duration_seconds_count')).toBe(3);
    expect(moved('vestibule_single_use_refused_total', { kind: 'EmailCode' })).toBe(1);
    expect(moved('vestibule_single_use_refused_total', { kind: 'AuthorizationCode' })).toBe(1);
    expect(moved('vestibule_single_use_refused_total', { kind: 'PasskeyChallenge' })).toBe(1);
    expect(moved('vestibule_tokens_total', { grant_type: 'authorization_code' })).toBe(1);
    expect(moved('vestibule_mail_total', { outcome: 'Kept' })).toBeGreaterThanOrEqual(3);
    expect(after.sum('vestibule_provider_faults_total')).toBe(0);
    expect(moved('authentication_attempts', { result: 'failure' })).toBe(1);
    expect(moved('authentication_attempts', { result: 'success' })).toBeGreaterThan(5);
  });

  test('no mail waits once all are kept', async () => {
    await settles(
      () => service.scrape(),
      (seen) =>
        seen.sum('vestibule_mail_outbox') === 0 &&
        seen.sum('vestibule_mail_outbox_oldest_seconds') === 0,
    );
  });

  test('requests are counted by what was asked, refusals and dry runs too', () => {
    const requests = (labels: Record<string, string>): number =>
      moved('apiserver_request_total', labels);
    const patch = {
      verb: 'PATCH',
      group: 'id.vestibule.org',
      version: 'v1beta1',
      resource: 'passkeys',
      subresource: '',
      scope: 'resource',
      component: 'apiserver',
      code: '200',
    };
    expect([requests({ ...patch, dry_run: '' }), requests({ ...patch, dry_run: 'All' })]).toEqual([
      1, 1,
    ]);
    expect([
      requests({ verb: 'POST', resource: 'interactions', subresource: 'login', code: '200' }),
      requests({ verb: 'POST', resource: 'interactions', subresource: 'login', code: '422' }),
    ]).toEqual([3, 3]);
    expect(requests({ verb: 'GET', resource: 'accounts', code: '404' })).toBe(1);
    expect(requests({ verb: 'GET', resource: 'accounts', code: '401' })).toBe(1);
    expect([
      requests({ verb: 'POST', resource: '', subresource: '/oauth2/token', code: '200' }),
      requests({ subresource: '/oauth2/token', code: '400' }),
    ]).toEqual([1, 1]);
    expect(requests({ verb: 'GET', resource: '', subresource: '', code: '404' })).toBe(1);
    expect(requests({ verb: 'LIST', resource: 'mockmessages', scope: 'cluster' })).toBeGreaterThan(
      1,
    );
    expect(requests({})).toBe(moved('apiserver_request_duration_seconds_count'));
    for (const { labels } of after.of('apiserver_request_total')) {
      expect([
        'GET',
        'LIST',
        'WATCH',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'DELETECOLLECTION',
        'HEAD',
        'OPTIONS',
        'other',
      ]).toContain(labels.verb);
      expect(labels.resource === '' || kinds.has(labels.resource!)).toBe(true);
      expect(labels.subresource).toMatch(
        /^([a-z]*|\/[a-z]+|\/oauth2(\/[a-z]+)+|\/\.well-known\/[a-z-]+)$/,
      );
    }
  });

  test('histograms add up, over the bounds of a kube-apiserver', () => {
    const buckets = after.of('apiserver_request_duration_seconds_bucket', {
      resource: 'interactions',
      subresource: 'login',
    });
    expect(buckets.map(({ labels }) => labels.le)).toEqual([...requestSeconds.map(String), '+Inf']);
    expect([...buckets].map(({ value }) => value).sort((a, b) => a - b)).toEqual(
      buckets.map(({ value }) => value),
    );
    expect(buckets.at(-1)!.value).toBe(
      after.sum('apiserver_request_duration_seconds_count', {
        resource: 'interactions',
        subresource: 'login',
      }),
    );
    const sizes = after.of('apiserver_response_sizes_bucket', {
      resource: 'mockmessages',
      verb: 'LIST',
    });
    expect(sizes.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity')))).toEqual([
      ...responseBytes,
      Infinity,
    ]);
    expect(
      after.sum('apiserver_response_sizes_sum', { resource: 'mockmessages', verb: 'LIST' }),
    ).toBeGreaterThan(1_000);
  });

  test('store, policy, watch cache and health say how they are', async () => {
    expect(moved('vestibule_commits_total', { result: 'ok' })).toBeGreaterThan(20);
    expect(after.sum('vestibule_commit_batch_size_sum')).toBeGreaterThanOrEqual(
      after.sum('vestibule_commits_total', { result: 'ok' }),
    );
    expect([
      after.sum('vestibule_commits_total', { result: 'unknown' }),
      after.sum('vestibule_commits_total', { result: 'refused' }),
    ]).toEqual([0, 0]);
    expect(moved('vestibule_policy_decisions_total', { decision: 'Permit' })).toBeGreaterThan(20);
    expect(moved('vestibule_policy_decisions_total', { decision: 'Refuse' })).toBeGreaterThan(0);
    expect(moved('vestibule_policy_decision_cache_total', { result: 'hit' })).toBeGreaterThan(0);
    expect(moved('vestibule_policy_evaluation_seconds_count')).toBeGreaterThan(0);
    expect(
      after
        .of('kubernetes_healthcheck')
        .map(({ labels: { type, name }, value }) => [type, name, value]),
    ).toEqual([
      ['readyz', 'ping', 1],
      ['livez', 'ping', 1],
      ...['storage', 'policy', 'startup', 'shutdown'].map((name) => ['readyz', name, 1]),
    ]);
    expect(after.sum('vestibule_watch_cache_lag_seconds')).toBeLessThan(10);
    expect(after.sum('vestibule_certificate_expiry_seconds', { name: 'serving' })).toBeGreaterThan(
      86_400,
    );
    const phases = await settles(
      async () =>
        (await service.scrape())
          .of('vestibule_interactions')
          .map(({ labels, value }) => [labels.phase, value > 0]),
      (seen) =>
        seen.every(
          ([phase, some]) =>
            some === ['Authenticated', 'Completed', 'LoginRequired'].includes(phase as string),
        ),
    );
    expect(phases.map(([phase]) => phase)).toEqual([
      'LoginRequired',
      'Authenticated',
      'ConsentRequired',
      'Completed',
      'Aborted',
    ]);
    expect(before.sum('apiserver_storage_objects', { resource: 'policies.id.vestibule.org' })).toBe(
      1,
    );
    if (store === 'etcd') {
      expect([
        moved('etcd_request_duration_seconds_count', { operation: 'txn' }) > 20,
        after.sum('etcd_request_errors_total'),
        after.of('vestibule_storage_version_supported')[0]!.value,
      ]).toEqual([true, 0, Number(checkVersion((await etcdBehind()).version) === undefined)]);
    } else {
      expect(after.sum('vestibule_storage_version_supported')).toBe(1);
    }
  });

  test('an open watch is counted while it is open, and so is what it receives', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    const stream = await new Stream(tab, 'groups?watch=true').until(({ code }) => code === 200);
    const open = await service.scrape();
    expect(open.sum('apiserver_longrunning_requests', { verb: 'WATCH', resource: 'groups' })).toBe(
      1,
    );
    expect(open.sum('apiserver_current_inflight_requests')).toBe(0);
    await tab
      .post('groups', {
        metadata: { name: 'zebras' },
        spec: { displayName: 'Zebras', members: [] },
      })
      .is(201);
    await stream.until(({ events }) =>
      events.some(({ object }) => object.metadata?.name === 'zebras'),
    );
    expect(
      (await service.scrape()).sum('apiserver_watch_events_total', { resource: 'groups' }),
    ).toBe(1);
    stream.close();
    await settles(
      () => service.scrape(),
      (seen) => seen.sum('apiserver_longrunning_requests') === 0,
    );
    expect(
      (await service.scrape()).sum('apiserver_request_total', {
        verb: 'WATCH',
        resource: 'groups',
        code: '200',
      }),
    ).toBe(1);
  });

  test('no scrape, log or audit line holds a secret or an address; no scrape a name', async () => {
    const scraped = (await service.scrape()).text;
    const [logs, audit] = [service.logs.join(''), JSON.stringify(service.audited())];
    expect(secrets.length).toBeGreaterThan(10);
    for (const secret of secrets) {
      for (const [where, text] of [
        ['scrape', scraped],
        ['logs', logs],
        ['audit', audit],
      ] as const) {
        expectFor([where, secret], holds(text, secret)).toEqual(false);
      }
    }
    for (const name of [
      ...names,
      'example.test',
      '127.0.0.1',
      'localhost',
      '="app"',
      'PURGE',
      'zebras',
    ]) {
      expectFor(name, scraped.includes(name)).toEqual(false);
    }
    expect(
      service.logs
        .filter(
          (line) =>
            !line.includes('generated a self-signed certificate') &&
            !line.includes('sign-in event'),
        )
        .join(''),
    ).not.toContain('127.0.0.1');
    expect([logs.includes('@example.test'), audit.includes('@example.test')]).toEqual([
      false,
      false,
    ]);
  });

  test('the log names the Client that a request to the provider was about', () => {
    const requests = service.logs
      .map((line) => JSON.parse(line))
      .filter(({ message, type }) => message === 'request' && type === 'provider');
    expect(
      requests
        .filter(({ method, code }) => method === 'POST' && (code === 200 || code === 400))
        .map(({ client }) => client),
    ).toEqual(['app', 'app']);
    expect(
      requests
        .filter(({ method, code }) => method === 'GET' && code === 303)
        .map(({ client }) => client),
    ).toContain('app');
  });

  test('the audit log has one event for each request that says anything of anyone', () => {
    const events = service.audited();
    const shape = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      stage: 'ResponseComplete',
      auditID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sourceIPs: ['127.0.0.1'],
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      stageTimestamp: expect.stringMatching(/000Z$/),
    };
    for (const event of events) {
      expect(event).toMatchObject(shape);
      expect(event.requestURI).not.toContain('?');
      expect([event.requestObject, event.responseObject]).toEqual([undefined, undefined]);
    }
    expect(new Set(events.map(({ auditID }) => auditID)).size).toBe(events.length);
    const patched = events.find(
      ({ verb, objectRef }) => verb === 'patch' && objectRef?.resource === 'passkeys',
    );
    const [passkey, account] = names.slice(-2) as [string, string];
    expect(patched).toMatchObject({
      requestURI: `/api/v1beta1/passkeys/${passkey}`,
      user: { username: account, groups: ['system:authenticated'] },
      objectRef: {
        resource: 'passkeys',
        name: passkey,
        apiGroup: 'id.vestibule.org',
        apiVersion: 'v1beta1',
      },
      responseStatus: { code: 200 },
      annotations: {
        'authorization.k8s.io/decision': 'allow',
        'authorization.k8s.io/reason': expect.stringMatching(/\S/),
        'id.vestibule.org/policy-decision': expect.stringMatching(new RegExp(`^${account}-`)),
      },
    });
    const refused = events.find(
      ({ objectRef, responseStatus }) =>
        objectRef?.name === 'a'.repeat(20) && responseStatus.code === 404,
    );
    expect(refused).toMatchObject({
      verb: 'get',
      user: { username: account },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
      responseStatus: { status: 'Failure', reason: 'NotFound' },
    });
    expect(
      events.find(
        ({ responseStatus, objectRef }) =>
          responseStatus.code === 401 && objectRef?.resource === 'accounts',
      ),
    ).toMatchObject({ user: { username: 'system:anonymous', groups: ['system:unauthenticated'] } });
    expect(
      events
        .filter(({ requestURI }) => requestURI.startsWith('/oauth2/auth'))
        .map(({ requestURI }) => requestURI),
    ).toEqual(expect.arrayContaining(['/oauth2/auth', '/oauth2/auth/resume']));
    expect(
      events
        .filter(({ responseStatus }) => responseStatus.code === 405 || responseStatus.code === 404)
        .some(({ requestURI }) => requestURI === ''),
    ).toBe(true);
  });

  test('a decision that is named is one that can be read', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    const named = service
      .audited()
      .map(({ annotations }) => annotations?.['id.vestibule.org/policy-decision'])
      .filter(Boolean);
    expect(named.length).toBeGreaterThan(3);
    for (const name of named) {
      await settles(
        () => tab.get(`policydecisions/${name}`),
        ({ code }) => code === 200,
      );
    }
  });

  test('settings are shown without secrets and addresses; nothing else is served there', async () => {
    const { code, body, headers } = await exchange(service.metricsURL!, 'GET', '/configz', {});
    expect([
      code,
      body.vestibule.operators,
      body.vestibule['limit-factor'],
      headers['cache-control'],
      headers['x-content-type-options'],
    ]).toEqual([200, '***', 1000, 'no-store', 'nosniff']);
    expect(JSON.stringify(body)).not.toContain('op@example.test');
    expect(
      await Promise.all(
        [
          ['GET', '/'],
          ['GET', '/api'],
          ['GET', '/metrics/x'],
          ['POST', '/metrics'],
          ['HEAD', '/metrics'],
        ].map(
          async ([method, path]) => (await exchange(service.metricsURL!, method!, path!, {})).code,
        ),
      ),
    ).toEqual([404, 404, 404, 405, 200]);
  });
});

/**
 * Whether a text holds a secret; one of digits alone, where it stands alone: other numbers may
 * happen to contain it.
 */
const holds = (text: string, secret: string): boolean =>
  /^\d+$/.test(secret)
    ? new RegExp(`(?<![\\w.])${secret}(?![\\w.])`).test(text)
    : text.includes(secret);

/** A sign-in by code with a wrong one before and the right one once more after it. */
async function byCode(
  service: Watched,
  secrets: string[],
  names: string[],
): Promise<{ done: Begun & { callback: URL } }> {
  const begun = await begin(service);
  const { tab, I } = begun;
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
  const { code, token } = await mailTo(service, 'ada@example.test');
  await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(code) } }).is(422);
  await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
  await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).fails(410, 'Expired');
  secrets.push(code, token, ...tab.cookies.map(({ value }) => value));
  names.push(I.split('/').at(-1)!);
  const { body } = await tab.get(I).is(200);
  return { done: { ...begun, callback: await proceed(tab, body.status.returnTo) } };
}

/** Flags of a certificate for the secure port, which a service on etcd is given. */
function certificate(): string[] {
  const folder = temporary();
  const { cert, key } = makeCertificate(['localhost'], Date.now());
  writeFileSync(`${folder}/tls.crt`, cert);
  writeFileSync(`${folder}/tls.key`, key, { mode: 0o600 });
  return ['--tls-cert-file', `${folder}/tls.crt`, '--tls-private-key-file', `${folder}/tls.key`];
}

test('a scrape during the stop shows it, too', async () => {
  const service = await startWatched('embedded', ['--shutdown-delay-duration', '5s']);
  let stopped = false;
  const stop = service.stop().then(() => {
    stopped = true;
  });
  const seen = await service.scrape();
  expect([
    stopped,
    seen.sum('kubernetes_healthcheck', { name: 'storage' }),
    seen.of('kubernetes_healthcheck', { name: 'shutdown' }).map(({ value }) => value),
  ]).toEqual([false, 1, [0]]);
  await stop;
  await expect(service.scrape()).rejects.toThrow();
});

test('without a metrics port nothing is opened', async () => {
  const service = await startTest();
  expect(service.metricsURL).toBeUndefined();
});
