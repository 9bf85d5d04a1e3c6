import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Bench } from './bench/bench.js';
import { Browser, formOf } from './bench/browser.js';
import type { Connection } from './bench/connection.js';
import { lineOf, sideLines } from './bench/measure/report.js';
import { resultOf } from './bench/measure/result.js';
import { builtPeer } from './bench/peers.js';
import { cpuPerOperation, type Metric, type Sample, Skip } from './bench/row.js';
import { rows } from './bench/rows/index.js';
import { signInRow } from './bench/rows/sign-in.js';
import type { SignInServer } from './bench/sign-in-server.js';

const sample = (cpuMicros: number): Sample => ({
  operations: 10,
  seconds: 1,
  cpuMicros,
  p50: 0.001,
  p99: 0.002,
  rss: 100,
});
const metric: Metric = {
  id: '14a',
  workload: 'sign in',
  unit: 'µs',
  ours: 'ours',
  of: cpuPerOperation,
  is: '≤',
};

describe('a row against another server', () => {
  const peer: SignInServer = {
    name: 'peer without hash',
    configuration: '/',
    start: () => Promise.reject(new Error('not started in a test')),
    load: 'peer',
    journeys: ['asked', 'remembered'],
  };
  const rounds = new Map(
    ['asked', 'remembered'].flatMap((journey) => [
      [`vestibule, ${journey}`, [sample(100_000), sample(100_000), sample(100_000)]],
      [`peer without hash, ${journey}`, [sample(400_000), sample(400_000), sample(400_000)]],
    ]),
  );
  const resultsOf = (row: ReturnType<typeof signInRow>) =>
    row.metrics.map((metric) => resultOf(metric, rounds, '24', false));

  test('compares each journey by processor time and by the clock with its gate', () => {
    const results = resultsOf(signInRow({ id: '14', peer, gate: 3, stretch: 5 }));
    expect(results.map(({ id, ratio, verdict }) => [id, ratio, verdict])).toEqual([
      ['14a', 4, 'pass'],
      ['14b', 4, 'pass'],
      ['14c', 1, 'fail'],
      ['14d', 1, 'fail'],
    ]);
  });

  test('without a gate is printed and not judged', () => {
    const results = resultsOf(signInRow({ id: '14x', peer }));
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(['no gate']));
    expect(lineOf(results[0]!)).toMatch(/ peer without hash +4\.00 +1\.00 +– +– +– +no gate$/);
  });

  test('every other server is held to three times its rate, unless its hash is left out', () => {
    const gates = rows
      .flatMap(({ metrics }) => metrics)
      .filter(({ id }) => /^1[456]x?[a-d]$/.test(id))
      .map(({ id, gate }) => [id.slice(0, -1), gate]);
    expect(new Map(gates as [string, number | undefined][])).toEqual(
      new Map([
        ['14', 3],
        ['14x', undefined],
        ['15', 3],
        ['16', 3],
        ['16x', undefined],
      ]),
    );
  });

  test('a long name leaves a space before the next column', () => {
    const samples = new Map(
      ['ours', 'keycloak without hash, remembered'].map((name) => [
        name,
        [{ ...sample(20_000), written: 1 }],
      ]),
    );
    const compared = { ...metric, peer: 'keycloak without hash, remembered' };
    expect(sideLines([resultOf(compared, samples, '24', false)])[2]).toMatch(/remembered +10\.0 /);
  });

  test('is skipped with the command that prepares it, until it is prepared', () => {
    const root = mkdtempSync(join(tmpdir(), 'peers-'));
    try {
      mkdirSync(join(root, 'test/bench/peers'), { recursive: true });
      copyFileSync(
        join(import.meta.dirname, 'bench/peers/build'),
        join(root, 'test/bench/peers/build'),
      );
      const bench = { root } as Bench;
      for (const name of ['dex', 'hydra', 'keycloak']) {
        expect(() => builtPeer(bench, name)).toThrow(
          new Skip(`not built: test/bench/peers/build ${name}`),
        );
      }
      const program = join(root, '.cache/peers/keycloak-26.7.3/bin/kc.sh');
      mkdirSync(join(program, '..'), { recursive: true });
      writeFileSync(program, '', { mode: 0o755 });
      expect(builtPeer(bench, 'keycloak')).toBe(program);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});

describe('the browser of a load', () => {
  test('sends a cookie to its path and below, with or without a slash at its end', () => {
    const cookies = ['/', '/realms/a/', '/realms/b'].map((path, i) => ({
      name: `c${i}`,
      value: 'v',
      path,
    }));
    const browser = new Browser({} as Connection, 'http://localhost:1', cookies);
    const sent = (target: string): string | undefined =>
      /^Cookie: (.*)\r$/m.exec(browser.bytes('GET', target))?.[1];
    expect(sent('/realms/a/auth?x=/realms/b')).toBe('c0=v; c1=v');
    expect(sent('/realms/b')).toBe('c0=v; c2=v');
    expect(sent('/realms/bb')).toBe('c0=v');
  });

  test('finds where the form of a page is sent to', () => {
    const page = (body: string) => ({ code: 200, head: '', body: Buffer.from(body) });
    expect(formOf(page('<form id="f" method="post" action="/a?b=1&amp;c=2">'))).toBe('/a?b=1&c=2');
    expect(() => formOf(page('<p>Wrong password'))).toThrow('no form: <p>Wrong password');
  });
});
