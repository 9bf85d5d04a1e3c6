import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { read, root } from './pages.js';

interface Plan {
  readonly title: string;
  readonly plan: string;
}

const tools = join(root, 'hack/tools/conformance');
const { plans } = (await import(join(tools, 'plans.mjs'))) as { plans: Record<string, Plan> };
const { reasons } = (await import(join(tools, 'reasons.mjs'))) as {
  reasons: Record<string, string>;
};

const page = read('docs/reference/conformance.md');
const sections = page.split(/^## /m).slice(1);
const rows = [...page.matchAll(/^\| ([\w-]+) \| ([A-Z]+) \| (.*?) ?\|$/gm)].map(
  ([, module, result, reason]) => ({ module: module!, result: result!, reason: reason! }),
);

test('the page of the last run has a section for each plan that hack/conformance runs, and no other', () => {
  const named = sections.map((section) => ({
    title: section.split('\n')[0],
    plan: /^`([a-z0-9-]+)`/m.exec(section)?.[1],
  }));
  expect(named).toEqual(Object.values(plans).map(({ title, plan }) => ({ title, plan })));
});

test('no module of the last run failed, and each that did not pass has its reason', () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(
    rows.filter(({ result }) => !['PASSED', 'REVIEW', 'WARNING', 'SKIPPED'].includes(result)),
  ).toEqual([]);
  const unexplained = rows.filter(({ module, result, reason }) =>
    result === 'PASSED' ? reason !== '' : reason !== reasons[module],
  );
  expect(unexplained).toEqual([]);
});

test('every reason is one of a module that does not pass', () => {
  const known = new Set(
    rows.filter(({ result }) => result !== 'PASSED').map(({ module }) => module),
  );
  expect(Object.keys(reasons).filter((module) => !known.has(module))).toEqual([]);
});
