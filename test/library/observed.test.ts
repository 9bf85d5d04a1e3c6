import { afterAll, describe, expect, test } from '@jest/globals';
import { createLog } from '../../apiserver/library/index.js';
import { scaled, settles } from '../support/patience.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { ask, Fishery, fischer, fischers, serving } from './fishery.js';

afterAll(stopAll);

const token = 'a-token-of-enough-characters';
const operator = { headers: { Authorization: `Bearer ${token}` } };

describe.each(stores)('what others see of a server, on %s', (store) => {
  const fishery = new Fishery(store);
  afterAll(() => fishery.stop());

  test('an audit sink gets an event of each request, and never fails one', async () => {
    const events: any[] = [];
    const lines: string[] = [];
    const { url } = await fishery.start({
      token,
      metrics: true,
      log: createLog('error', { write: (line) => lines.push(String(line)) > 0 }),
      audit: {
        write(event) {
          if (event.verb === 'delete') throw new Error('the sink is full');
          events.push(event);
        },
      },
    });
    const body = fischer('ada');
    expect((await ask(url + fischers, { method: 'POST', body, ...operator })).code).toBe(201);
    expect((await ask(url + fischers)).code).toBe(401);
    for (const path of ['/readyz', '/apis', '/metrics']) await ask(url + path, operator);
    const gone = await ask(`${url}${fischers}/ada`, { method: 'DELETE', ...operator });
    expect(gone.code).toBe(200);
    await settles(
      async () => lines,
      ({ length }) => length > 0,
    );
    expect(events).toEqual([
      expect.objectContaining({
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        verb: 'create',
        requestURI: fischers,
        user: { username: 'operator', groups: ['system:authenticated'] },
        objectRef: expect.objectContaining({ resource: 'fischers' }),
        responseStatus: expect.objectContaining({ code: 201 }),
      }),
      expect.objectContaining({
        verb: 'list',
        responseStatus: expect.objectContaining({ code: 401 }),
      }),
    ]);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      message: 'audit event is lost',
      err: { message: 'the sink is full' },
    });
    const { body: text } = await ask(`${url}/metrics`, operator);
    expect(text).toContain('\napiserver_audit_event_total 2\n');
    expect(text).toContain('\napiserver_audit_error_total{plugin="sink"} 1\n');
  });

  test('metrics are served to those whom the authorizer permits, if they are on', async () => {
    const off = await fishery.start({ token });
    expect((await ask(`${off.url}/metrics`, operator)).code).toBe(404);
    const { url } = await fishery.start({
      token,
      certificate: serving,
      metrics: true,
      authorize: ({ caller, action }) => ({
        allowed:
          action !== 'metrics' || (caller.type === 'ClusterUser' && caller.user === 'operator'),
        reasons: [{ rule: 'metrics', message: 'Only operators see metrics.' }],
      }),
    });
    expect((await ask(`${url}/metrics`)).code).toBe(401);
    const wrong = { headers: { Authorization: 'Bearer another' } };
    expect((await ask(`${url}/metrics`, wrong)).code).toBe(401);
    expect((await ask(`${url}/metrics`, { method: 'POST', ...operator })).code).toBe(405);
    await ask(url + fischers, { method: 'POST', body: fischer('ada'), ...operator });
    const { code, body, headers } = await ask(`${url}/metrics`, operator);
    expect(code).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
    });
    for (const line of [
      /^apiserver_request_total\{verb="POST",.*resource="fischers",.*code="201"\} 1$/m,
      /^authentication_attempts\{result="failure"\} 1$/m,
      /^apiserver_storage_objects\{resource="fischers\.wardle\.example\.com"\} 1$/m,
      /^kubernetes_healthcheck\{type="readyz",name="storage"\} 1$/m,
      /^vestibule_certificate_expiry_seconds\{name="serving"\} \d+/m,
      /^process_cpu_seconds_total /m,
    ]) {
      expect(body).toMatch(line);
    }
    expect(body).not.toMatch(/sign_in|policy|mail/);
  });

  test('metrics are refused in the words of the authorizer', async () => {
    const { url } = await fishery.start({
      token,
      metrics: true,
      authorize: ({ action }) => ({
        allowed: action !== 'metrics',
        reasons: [{ rule: 'metrics', message: 'No one sees metrics.' }],
      }),
    });
    const { code, body } = await ask(`${url}/metrics`, operator);
    expect([code, body.message]).toEqual([403, expect.stringContaining('No one sees metrics.')]);
  });

  test('health checks of one’s own count in readyz, and in livez if they say so', async () => {
    const failing = new Set<string>();
    const check = (name: string, isLiveness = false) => ({
      name,
      isLiveness,
      run() {
        if (failing.has(name)) throw new Error('secret reason');
      },
    });
    const { url } = await fishery.start({ checks: [check('pond-2'), check('boat', true)] });
    const codes = () =>
      Promise.all(
        ['/readyz', '/livez', '/readyz/pond-2', '/livez/pond-2', '/livez/boat'].map(
          async (path) => (await ask(url + path)).code,
        ),
      );
    expect(await codes()).toEqual([200, 200, 200, 404, 200]);
    failing.add('pond-2');
    expect(await codes()).toEqual([500, 200, 500, 404, 200]);
    failing.add('boat');
    expect(await codes()).toEqual([500, 500, 500, 404, 500]);
    const { body } = await ask(`${url}/readyz`);
    expect(body).toContain('[-]pond-2 failed: reason withheld');
    expect(body).not.toContain('secret');
  });

  test('a stopping server takes requests, and says that it is not ready', async () => {
    const { url, stop } = await fishery.start({ shutdownDelayMs: scaled(3_000) });
    const stopped = stop();
    await settles(
      () => ask(`${url}/readyz`),
      ({ code }) => code === 500,
    );
    const { code, body } = await ask(url + fischers, { method: 'POST', body: fischer('ada') });
    expect([code, body.metadata?.name]).toEqual([201, 'ada']);
    await stopped;
    await expect(ask(`${url}/readyz`)).rejects.toThrow();
  });
});
