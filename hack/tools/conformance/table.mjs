import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { plans } from './plans.mjs';
import { reasons } from './reasons.mjs';

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/**
 * Returns why a module did not pass: the reason in reasons.mjs, or else the findings of the suite.
 */
function reasonOf({ module, result, findings }) {
  if (result === 'PASSED') return '';
  const found = findings.map(({ source, message }) => `${source}: ${message}`);
  return reasons[module] ?? escaped([...new Set(found)].join('; '));
}

/** Returns the modules of one plan as a Markdown table. */
export const tableOf = (rows) =>
  [
    '| Module | Result | Reason |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.module} | ${row.result} | ${reasonOf(row)} |`),
  ].join('\n');

/** Returns how many modules have each result, as one line of text, and how many failed. */
export function countsOf(rows) {
  const count = (...results) => rows.filter(({ result }) => results.includes(result)).length;
  const failed = count('FAILED', 'INTERRUPTED', 'UNKNOWN');
  const line =
    `${count('PASSED')} passed, ${count('WARNING')} with warnings, ${count('REVIEW')} for review, ` +
    `${count('SKIPPED')} skipped, ${failed} failed`;
  return { line, failed };
}

/** Returns the commit of this checkout, with a plus sign if files differ from it. */
export function productCommit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') ? '+' : ''}`;
}

/** Returns the section of one plan in Markdown. */
function sectionOf(name, rows, commit) {
  const { title, plan, variant } = plans[name];
  const choices = Object.entries(variant).map(([key, value]) => `\`${key}=${value}\``);
  const of = choices.length > 0 ? `, with ${choices.join(', ')}` : '';
  const date = new Date().toISOString().slice(0, 10);
  return (
    `## ${title}\n\n\`${plan}\`${of}. Last run on ${date} with the suite’s commit \`${commit}\` and this service’s \`${productCommit()}\`: ${countsOf(rows).line}.\n\n` +
    `${tableOf(rows)}\n\n`
  );
}

/** Replaces the section of each plan that was run in the page `file`, or adds it at the end. */
export function writeSections(file, runs, commit) {
  let page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const [name, rows] of Object.entries(runs)) {
    const heading = `## ${plans[name].title}\n`;
    const start = page.indexOf(heading);
    const next = start < 0 ? -1 : page.indexOf('\n## ', start);
    const end = next < 0 ? page.length : next + 1;
    const [before, after] =
      start < 0
        ? [page === '' ? '' : `${page.trimEnd()}\n\n`, '']
        : [page.slice(0, start), page.slice(end)];
    page = before + sectionOf(name, rows, commit) + after;
  }
  writeFileSync(file, `${page.trimEnd()}\n`);
}
