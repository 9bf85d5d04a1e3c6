import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Served } from '../../faults/served.js';
import { settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import { stopAll, temporary } from '../../support/service.js';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

/** A collector of traces by OTLP over http, in JSON. */
class Collector {
  readonly spans: Span[] = [];
  readonly resources = new Set<string>();
  readonly #server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        expect([req.method, req.url]).toEqual(['POST', '/v1/traces']);
        for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks).toString())
          .resourceSpans) {
          for (const { key, value } of resource.attributes) {
            this.resources.add(`${key}=${Object.values(value)[0]}`);
          }
          for (const { spans } of scopeSpans) this.spans.push(...spans);
        }
        res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
  });
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.closeAllConnections();
      this.#server.close(() => resolve());
    });
  }
  of(trace: string): Span[] {
    return this.spans.filter(({ traceId }) => traceId === trace);
  }
}

const attribute = ({ attributes }: Span, name: string): unknown =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

const collector = new Collector();
let endpoint = '';
let served: Served | undefined;
beforeAll(async () => {
  endpoint = await collector.listen();
});
afterAll(async () => {
  await served?.end();
  await collector.close();
  await stopAll();
});

test('a request is a trace with its steps, and none of it says of whom', async () => {
  served = await Served.start(
    temporary(),
    { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '100' },
    { flags: ['--log-level', 'debug'] },
  );
  const { tab } = await signIn(served, 'wilhelmina@example.test');
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const passkeys = await tab
    .get('sessions/~', { headers: { traceparent: `00-${trace}-${parent}-01` } })
    .is(200);
  const account = (await tab.get('accounts/~').is(200)).body;
  const change = '11111111111111111111111111111111';
  await tab
    .patch(
      `accounts/${account.metadata.name}`,
      { spec: { displayName: 'Wilhelmina' } },
      { headers: { traceparent: `00-${change}-${parent}-01` } },
    )
    .is(200);
  await settles(
    async () => collector.of(change),
    (spans) => spans.some(({ parentSpanId }) => parentSpanId === parent),
  );
  const read = collector.of(trace);
  const root = read.find(({ name }) => name === 'get sessions')!;
  expect([
    root.parentSpanId,
    root.kind,
    attribute(root, 'http.response.status_code'),
    attribute(root, 'http.request.method'),
    attribute(root, 'vestibule.audit_id'),
  ]).toEqual([parent, 2, 200, 'GET', passkeys.headers['audit-id']]);
  expect(
    read
      .filter(({ parentSpanId }) => parentSpanId === root.spanId)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['authenticate', 'policy']);
  const written = collector.of(change);
  expect(written.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['patch accounts', 'authenticate', 'policy', 'commit']),
  );
  const commit = written.find(({ name }) => name === 'commit')!;
  expect([
    attribute(commit, 'vestibule.committed'),
    Number(attribute(commit, 'vestibule.batch')) >= 1,
    Number(attribute(commit, 'vestibule.writes')) >= 1,
  ]).toEqual([true, true, true]);
  expect(collector.spans.some(({ name }) => name === 'provider')).toBe(true);
  expect(
    attribute(collector.spans.find(({ name }) => name === 'policy')!, 'vestibule.allowed'),
  ).toBe(true);
  expect([...collector.resources]).toEqual(expect.arrayContaining(['service.name=vestibule']));
  for (const personal of ['wilhelmina', 'example.test', account.metadata.name, 'Wilhelmina']) {
    expect(JSON.stringify(collector.spans)).not.toContain(personal);
  }
  const line = served.complaints
    .split('\n')
    .find((one) => one.includes(passkeys.headers['audit-id'] as string))!;
  expect(JSON.parse(line)).toMatchObject({ traceID: trace });
});

test('what no one vouches for begins a trace of its own, and what is malformed is none', async () => {
  const begun = collector.spans.length;
  for (const traceparent of [
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    'nonsense',
    '00-4BF92F3577B34DA6A3CE929D0E0E4737-00f067aa0ba902b7-01',
  ]) {
    await served!.tab().get('/livez', { headers: { traceparent } }).is(200);
  }
  await settles(
    async () => collector.spans.slice(begun).filter(({ name }) => name === 'health'),
    (spans) => spans.length === 3,
  );
  for (const span of collector.spans.slice(begun).filter(({ name }) => name === 'health')) {
    expect(span.parentSpanId ?? '').toBe('');
  }
});

test('the trace of a caller that is no trusted proxy is not adopted', async () => {
  const [other, quiet] = [
    await Served.start(
      temporary(),
      { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '100' },
      { flags: ['--trusted-proxies', '203.0.113.9'] },
    ),
    await Served.start(temporary()),
  ];
  try {
    const trace = '22222222222222222222222222222222';
    await other
      .tab()
      .get('/api', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
      .is(200);
    await settles(
      async () => collector.spans,
      (spans) => spans.some(({ name }) => name === 'discovery'),
    );
    expect(collector.of(trace)).toEqual([]);
    const before = collector.spans.length;
    await quiet
      .tab()
      .get('/api/v1beta1', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
      .is(200);
    await other.tab().get('/api').is(200);
    await settles(
      async () => collector.spans.slice(before),
      (spans) => spans.some(({ name }) => name === 'discovery'),
    );
    expect(collector.spans.slice(before).filter(({ traceId }) => traceId === trace)).toEqual([]);
  } finally {
    await other.end();
    await quiet.end();
  }
});

test('a collector that does not answer does not hold up a stop', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const other = await Served.start(temporary(), {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  });
  await other.tab().get('/api').is(200);
  expect(await other.stop()).toBe(0);
  silent.closeAllConnections();
  silent.close();
  expect(other.complaints).toContain('the collector did not accept the last spans within 2 s');
  expect(other.complaints).toContain('sending the last traces failed');
});
