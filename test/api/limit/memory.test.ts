import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { readBytes } from '../../../apiserver/http/body.js';
import { MemoryGuard } from '../../../apiserver/http/memory-guard.js';
import { readCgroup, recentMemoryUse } from '../../../apiserver/http/memory-use.js';
import type { ApiRequest } from '../../../apiserver/http/message.js';
import { defaultLimits } from '../../../kinds/limits/limit-settings.js';
import { Metrics } from '../../../observability/metrics/metrics.js';
import { freePorts } from '../../storage/etcd-server.js';
import { program } from '../../support/command.js';
import { type Scrape, scrape } from '../../support/network/scrape.js';
import { Stream } from '../../support/network/stream.js';
import { settles } from '../../support/patience.js';
import { Tab } from '../../support/people/tab.js';
import { stopAll, temporary } from '../../support/service.js';

afterAll(stopAll);

describe('the memory that is in use of a cgroup', () => {
  /** The root of a file system with these files. */
  function files(contents: Record<string, string>): string {
    const root = temporary();
    for (const [path, text] of Object.entries(contents)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `${text}\n`);
    }
    return root;
  }
  const stat = 'anon 500\nfile 400\ninactive_file 100\nactive_file 200\nslab_reclaimable 50';
  const second = (folder: string, max: string, current: string): Record<string, string> => ({
    [`${folder}/memory.max`]: max,
    [`${folder}/memory.current`]: current,
    [`${folder}/memory.stat`]: stat,
  });

  test('is what cannot be reclaimed, in version 2', () => {
    expect(
      readCgroup(
        files({ 'proc/self/cgroup': '0::/', ...second('sys/fs/cgroup', '1000', '850') }),
      )(),
    ).toBe(0.5);
  });

  test('is that of the nearest limit, of its own cgroup or one around it', () => {
    const around = {
      ...second('sys/fs/cgroup/system.slice', '1000', '950'),
      ...second('sys/fs/cgroup/system.slice/vestibule.service', '2000', '850'),
    };
    expect(
      readCgroup(files({ 'proc/self/cgroup': '0::/system.slice/vestibule.service', ...around }))(),
    ).toBe(0.6);
  });

  test('is that of the container, whose files are at the top, with any path outside', () => {
    expect(
      readCgroup(
        files({
          'proc/self/cgroup': '1:name=systemd:/\n0::/kubepods/pod1/container',
          ...second('sys/fs/cgroup', '1000', '1050'),
        }),
      )(),
    ).toBe(0.7);
  });

  test('is none without a limit', () => {
    expect(
      readCgroup(files({ 'proc/self/cgroup': '0::/', ...second('sys/fs/cgroup', 'max', '850') }))(),
    ).toBeUndefined();
    expect(readCgroup(temporary())()).toBeUndefined();
  });

  test('is read again each time, beside that of the heap', () => {
    const root = files({ 'proc/self/cgroup': '0::/', ...second('sys/fs/cgroup', '1000', '850') });
    const read = readCgroup(root);
    writeFileSync(join(root, 'sys/fs/cgroup/memory.current'), '1350');
    expect(read()).toBe(1);
    const [heap] = recentMemoryUse()();
    expect([heap!.limit, heap!.ratio > 0, heap!.ratio < 1]).toEqual(['heap', true, true]);
  });
});

/** How often each sort of request was refused. */
const refusals = async (refused: Metrics['memoryRefused']): Promise<Record<string, number>> =>
  Object.fromEntries((await refused.get()).values.map(({ labels, value }) => [labels.kind, value]));

describe('the memory guard', () => {
  const guardAt = (heap: number, cgroup: number, refused?: Metrics['memoryRefused']): MemoryGuard =>
    new MemoryGuard(defaultLimits, refused, () => [
      { limit: 'heap', ratio: heap },
      { limit: 'cgroup', ratio: cgroup },
    ]);

  test.each([
    [0.8, 0.1],
    [0.1, 0.8],
  ])(
    'refuses watches and large bodies where either limit is near (%d, %d)',
    async (heap, cgroup) => {
      const { memoryRefused } = new Metrics();
      const guard = guardAt(heap, cgroup, memoryRefused);
      expect(() => guard.refuseWatch()).toThrow(
        expect.objectContaining({ reason: 'TooManyRequests', details: { retryAfterSeconds: 5 } }),
      );
      expect(() => guard.refuseBody((64 << 10) + 1)).toThrow(
        expect.objectContaining({ reason: 'TooManyRequests' }),
      );
      guard.refuseBody(64 << 10);
      expect(await refusals(memoryRefused)).toEqual({ watch: 1, body: 1 });
    },
  );

  test('refuses a body that turns out to be large, though it never said so', async () => {
    const sent = (size: number): ApiRequest =>
      Object.assign(
        Readable.from(Array.from({ length: size >> 10 }, () => Buffer.alloc(1 << 10))),
        { headers: {}, memory: guardAt(0.9, 0) },
      ) as unknown as ApiRequest;
    await expect(readBytes(sent(65 << 10), 256 << 10)).rejects.toThrow(
      expect.objectContaining({ reason: 'TooManyRequests' }),
    );
    expect(await readBytes(sent(64 << 10), 256 << 10)).toHaveLength(64 << 10);
  });

  test('refuses nothing before', async () => {
    const { memoryRefused } = new Metrics();
    const guard = guardAt(0.799, 0.799, memoryRefused);
    guard.refuseWatch();
    guard.refuseBody(1 << 20);
    expect(await refusals(memoryRefused)).toEqual({ watch: 0, body: 0 });
  });
});

describe('a process that is short of memory', () => {
  let child: ChildProcess | undefined;
  afterEach(() => {
    child?.kill('SIGKILL');
  });

  test('refuses new watches and large bodies, and answers all that is small', async () => {
    const fill = join(import.meta.dirname, '../../support/fill.mjs');
    const [metricsPort] = await freePorts(1);
    const flags = [
      '--port',
      '0',
      '--metrics-port',
      String(metricsPort),
      '--data-dir',
      temporary(),
      '--mock-mail',
    ];
    child = spawn(
      process.execPath,
      ['--max-old-space-size=256', '--import', fill, program, 'serve', ...flags],
      { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let out = '';
    child.stdout!.on('data', (text: Buffer) => {
      out += text.toString();
    });
    child.stderr!.resume();
    const said = await settles(
      async () => /^ready (\S+) (\S+)$/m.exec(out),
      (line) => line !== null,
    );
    const [, baseURL, url] = said as unknown as [string, string, string];
    const metricsURL = `http://127.0.0.1:${metricsPort}`;
    const tab = new Tab(url, baseURL);
    const refused = (seen: Scrape): number[] =>
      ['watch', 'body'].map((kind) => seen.sum('vestibule_memory_refused_total', { kind }));
    const before = await new Stream(tab, 'policies?watch=true').until(
      ({ events }) => events.length > 0,
    );
    expect(refused(await scrape(metricsURL))).toEqual([0, 0]);

    child.kill('SIGUSR2');
    await settles(
      async () => out,
      (said) => said.includes('filled'),
    );
    await settles(
      () => scrape(metricsURL),
      (seen) => seen.sum('vestibule_memory_used_ratio', { limit: 'heap' }) > 0.8,
    );
    await tab.get('policies?watch=true').fails(429, 'TooManyRequests');
    expect(
      (await new Stream(tab, 'policies?watch=true').until(({ code }) => code !== 0)).code,
    ).toBe(429);
    const large = JSON.stringify({ spec: { cedar: 'x'.repeat(70_000) } });
    await tab
      .post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', large)
      .fails(429, 'TooManyRequests');
    await tab
      .post('/oauth2/token', large, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      .fails(429, 'TooManyRequests');
    await tab.get('policies').is(200);
    expect(
      (
        await tab.post('/oauth2/token', 'grant_type=authorization_code', {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).code,
    ).toBe(400);
    expect([before.ended, refused(await scrape(metricsURL))]).toEqual([false, [2, 2]]);

    child.kill('SIGUSR2');
    await settles(
      async () => out,
      (said) => said.includes('emptied'),
    );
    await settles(
      () => scrape(metricsURL),
      (seen) => seen.sum('vestibule_memory_used_ratio', { limit: 'heap' }) < 0.8,
    );
    const after = await new Stream(tab, 'policies?watch=true').until(
      ({ events }) => events.length > 0,
    );
    expect(
      (
        await tab.post('/oauth2/token', large, {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).code,
    ).not.toBe(429);
    after.close();
    before.close();
  });
});
