/**
 * Writes the section about apps of docs/reference/compatibility.md from a JSON report of jest:
 * node hack/apps-table.mjs REPORT. The rest of the page stays as it is.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../docs/reference/compatibility.md');
const page = readFileSync(file, 'utf8');

/** Returns the section about apps as the page has it, or an empty text. */
export const appsSection = (text = page) =>
  /^## Apps\n[\s\S]*?(?=^## |$(?![\s\S]))/m.exec(text)?.[0] ?? '';

/** Returns why a test failed, in one line. */
const reasonOf = (messages) =>
  messages
    .join('\n')
    .split('\n', 1)[0]
    .replace(/^Error: /, '')
    .replaceAll('|', '\\|')
    .replaceAll(/localhost:\d+/g, 'localhost')
    .slice(0, 300);

const cellOf = ({ status, failureMessages }, missing) => {
  if (status === 'passed') return 'yes';
  return status === 'failed' ? `**no**: ${reasonOf(failureMessages)}` : `not run: needs ${missing}`;
};

/** Returns a row of the table; the title of a test has its fields. */
function rowOf(result) {
  const [, from, where, missing] = result.title.split(' | ');
  const link = where.startsWith('docs/')
    ? `[${where.split('/').at(-1)}](${where.replace(/^docs\/(reference\/)?/, (_, own) => (own ? '' : '../'))})`
    : `\`${where}\``;
  return `| ${result.ancestorTitles.at(-1)} | ${from} | ${cellOf(result, missing)} | ${link} |`;
}

function sectionOf(report) {
  const results = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ title }) => title.startsWith('signs a person in on the first try | '));
  const passed = results.filter(({ status }) => status === 'passed').length;
  return [
    '## Apps',
    '',
    'Programs that sign people in, each with the Client and the quick start of its page, of its folder in `test/apps`,',
    'or with those of the console. A person signs in by emailed code and agrees, and the program shows who they are. The',
    'record of a run of `hack/test-apps`.',
    '',
    `**${passed} of ${results.length} sign in on the first try.**`,
    '',
    '| Program | From | First try | Client and configuration |',
    '|---|---|---|---|',
    ...results.map(rowOf),
    '',
    '',
  ].join('\n');
}

const [report] = process.argv.slice(2);
if (import.meta.main && report) {
  const section = sectionOf(JSON.parse(readFileSync(report, 'utf8')));
  const former = appsSection();
  const written = former
    ? page.replace(former, () => section)
    : page.replace(/^## /m, () => `${section}## `);
  writeFileSync(file, written);
}
