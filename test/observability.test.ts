import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { Metrics } from '../observability/metrics/metrics.js';
import { expectFor } from './support/expect-for.js';
import { Scrape } from './support/network/scrape.js';
import { Stream } from './support/network/stream.js';
import { redeem, signIn } from './support/people/signin.js';
import { exchange } from './support/people/tab.js';
import { stopAll } from './support/service.js';
import { endWatched, etcdBehind, startWatched } from './support/watched.js';

const { definitions } = new Metrics();
const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const runbooks = 'docs/how-to/runbooks';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: { summary: string; runbook: string };
}
const rules: Rule[] = parse(read('deploy/observability/alerts.yaml')).groups.flatMap(
  ({ rules: some }: { rules: Rule[] }) => some,
);
const dashboard = JSON.parse(read('deploy/observability/dashboard.json'));
const targets: { title: string; expr: string; legendFormat: string }[] = dashboard.panels.flatMap(
  ({ title, targets: some = [] }: any) => some.map((one: any) => ({ title, ...one })),
);

/**
 * What an expression names: metrics with the labels they are chosen by, and labels they are summed
 * by.
 */
function namedIn(expr: string): {
  selectors: { metric: string; matchers: { label: string; how: string; value: string }[] }[];
  by: string[];
  rest: string[];
} {
  const selectors = [...expr.matchAll(/([a-z_]\w*)\{([^}]*)\}/g)].map(([, metric, inside]) => ({
    metric: metric!,
    matchers: [...inside!.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label, how, value]) => ({
      label: label!,
      how: how!,
      value: value!,
    })),
  }));
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) =>
    labels!.split(',').map((one) => one.trim()),
  );
  const bare = expr
    .replaceAll(/[a-z_]\w*\{[^}]*\}(\[\w+\])?/g, '')
    .replaceAll(/\bby \([^)]*\)/g, '')
    .replaceAll(/[a-z_]+(?=\s*\()/g, '')
    .replaceAll(/\boffset \d+[smhd]\b|\b(and|or|unless)\b/g, '');
  return { selectors, by, rest: bare.match(/[a-zA-Z_]\w*/g) ?? [] };
}

const expressions = [
  ...rules.map(({ alert, expr }) => ({ from: alert, expr })),
  ...targets.map(({ title, expr }) => ({ from: title, expr })),
];

/**
 * Those that only a fault brings about, or an etcd that is younger than the one of the tests may
 * be; they are checked by name alone.
 */
const rare = new Set(['apiserver_terminated_watchers_total', 'vestibule_storage_quota_bytes']);
/** Metrics of a cluster's API server about this service, which no test here scrapes. */
const elsewhere = new Set(['aggregator_unavailable_apiservice']);
/** Labels that Prometheus adds to what it scrapes. */
const added = new Set(['job', 'instance']);

const scrapes: Record<string, Scrape> = {};

beforeAll(async () => {
  const service = await startWatched('etcd', ['--operators', 'op@example.test']);
  const own = await startWatched('embedded', ['--secure-port', '0']);
  const done = await signIn(service, 'op@example.test');
  await redeem(service, done);
  const stream = await new Stream(done.tab, 'groups?watch=true').until(({ code }) => code === 200);
  await done.tab
    .post('groups', { metadata: { name: 'seen' }, spec: { displayName: 'Seen', members: [] } })
    .is(201);
  await stream.until(({ events }) => events.length > 0);
  for (const path of ['healthz', 'livez', 'readyz']) {
    await exchange(service.url, 'GET', `/${path}`, {});
  }
  scrapes.vestibule = await service.scrape();
  scrapes.serving = await own.scrape();
  scrapes['vestibule-etcd'] = new Scrape(
    (await exchange((await etcdBehind()).metricsUrl, 'GET', '/metrics', {})).bytes.toString(),
  );
  stream.close();
});
afterAll(async () => {
  await endWatched();
  await stopAll();
});

/** The scrapes of the job that an expression names. */
function scrapesOf(job: string | undefined): Scrape[] {
  if (job === 'vestibule-etcd') return [scrapes[job]!];
  return job === 'vestibule' ? [scrapes.vestibule!, scrapes.serving!] : [];
}
const family = (metric: string, scrape: Scrape): string | undefined =>
  [metric, metric.replace(/_(bucket|sum|count)$/, '')].find((name) => scrape.types.has(name));

test('every alert and panel names metrics and labels of a real scrape', () => {
  expect(expressions.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  for (const { from, expr } of expressions) {
    const { selectors, by, rest } = namedIn(expr);
    if (selectors.length === 0) wrong.push(`${from} names no metric`);
    for (const name of rest) wrong.push(`${from}: ${name} stands there without a job`);
    if (expr.split('(').length !== expr.split(')').length) wrong.push(`${from}: brackets`);
    const known = new Set<string>(['le', ...added]);
    for (const { metric, matchers } of selectors) {
      if (elsewhere.has(metric)) continue;
      const found = scrapesOf(matchers.find(({ label }) => label === 'job')?.value).filter(
        (scrape) => family(metric, scrape),
      );
      if (found.length === 0) {
        wrong.push(`${from}: no scrape has ${metric}`);
        continue;
      }
      const labels = new Set(
        found.flatMap((scrape) => [...scrape.labels(family(metric, scrape)!)]),
      );
      if (rare.has(metric)) {
        for (const label of definitions.find(({ name }) => name === metric)!.labels) {
          labels.add(label);
        }
      } else if (found.every((scrape) => scrape.of(metric).length === 0)) {
        wrong.push(`${from}: ${metric} has no series`);
      }
      for (const label of labels) known.add(label);
      for (const { label, how, value } of matchers) {
        if (added.has(label)) continue;
        if (!labels.has(label)) wrong.push(`${from}: ${metric} has no label ${label}`);
        const values = (how.endsWith('~') ? value.split('|') : [value]).filter(
          (one) => label !== 'code' && one !== '',
        );
        for (const value of values) {
          if (!found.some((scrape) => scrape.of(metric, { [label]: value }).length > 0)) {
            wrong.push(`${from}: ${metric} has no ${label} ${value}`);
          }
        }
      }
    }
    for (const label of by) {
      if (!known.has(label)) wrong.push(`${from}: there is no label ${label} to sum by`);
    }
  }
  for (const { title, expr, legendFormat } of targets) {
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      if (label !== 'instance' && !namedIn(expr).by.includes(label!)) {
        wrong.push(`${title}: the legend's ${label} is summed away`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test('the check finds what is wrong', () => {
  expect(namedIn('sum by (le) (rate(a_b{job="x", c=~"d|e"}[5m])) > 2 and stray')).toEqual({
    selectors: [
      {
        metric: 'a_b',
        matchers: [
          { label: 'job', how: '=', value: 'x' },
          { label: 'c', how: '=~', value: 'd|e' },
        ],
      },
    ],
    by: ['le'],
    rest: ['stray'],
  });
});

test('every alert leads to a page, and every page to an alert', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, annotations, labels } of rules) {
    expectFor(alert, [
      existsSync(join(root, annotations.runbook)),
      annotations.summary.endsWith('.'),
      ['critical', 'warning'].includes(labels.severity!),
    ]).toEqual([true, true, true]);
    expect(read(`${runbooks}/README.md`)).toContain(alert);
  }
  const pages = readdirSync(join(root, runbooks)).filter((file) => file !== 'README.md');
  expect(new Set(rules.map(({ annotations }) => annotations.runbook))).toEqual(
    new Set(pages.map((page) => `${runbooks}/${page}`)),
  );
  const all = Object.values(scrapes);
  const wrong = pages.flatMap((page) =>
    [
      ...read(`${runbooks}/${page}`).matchAll(
        /\b(?:apiserver|vestibule|etcd|nodejs|process|kubernetes|authentication)_[a-z0-9_]+/g,
      ),
    ]
      .filter(
        ([name]) =>
          !all.some(
            (scrape) =>
              family(name, scrape) ||
              [...scrape.types.keys()].some(
                (type) => name.endsWith('_') && type.startsWith(name.slice(0, -1)),
              ),
          ),
      )
      .map(([name]) => `${page}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

test('what a page greps for is found', () => {
  const text = scrapes.vestibule!.text + scrapes.serving!.text;
  for (const page of readdirSync(join(root, runbooks))) {
    for (const [, extended, pattern] of read(`${runbooks}/${page}`).matchAll(
      /9090\/metrics \| grep (-E )?'([^']+)'/g,
    )) {
      if (pattern!.includes('code="5')) continue;
      const wanted = new RegExp(
        extended ? pattern! : pattern!.replaceAll(/[(){}|+?]/g, '\\$&'),
        'm',
      );
      expectFor(page, wanted.test(text)).toEqual(true);
    }
  }
});
