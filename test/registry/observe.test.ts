import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { bufferedStream, createLog } from '../../observability/log.js';

const written: string[] = [];
afterEach(() => {
  written.length = 0;
});
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('what one turn of the event loop logs is written at once, line by line', async () => {
  const log = createLog(
    'info',
    bufferedStream({ write: (text) => written.push(String(text)) > 0 }),
  );
  log.info('first');
  log.warn({ name: 'x' }, 'second');
  await Promise.resolve();
  expect(written).toEqual([]);
  await turn();
  expect(
    written.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ),
  ).toEqual([['first', 'second']]);
  log.info('third');
  await turn();
  expect(written).toHaveLength(2);
});

test('nothing that was logged is lost where the process ends in the same turn', () => {
  const module = pathToFileURL(join(import.meta.dirname, '../../dist/observability/log.js')).href;
  for (const end of ['process.exit(3)', 'throw new Error("the end")']) {
    const { stderr } = spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { createLog, bufferedStream } = await import(${JSON.stringify(module)}); const log = createLog('info', bufferedStream(process.stderr)); log.info('last words'); ${end}`,
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toContain('"message":"last words"');
  }
});

test.each(['json', 'text'] as const)(
  'a line of the log as %s holds no character that ends one',
  (format) => {
    const log = createLog('info', { write: (text) => written.push(String(text)) > 0 }, format);
    log.info({ agent: 'a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg' }, 'x\u2028y\u0085z');
    expect(written.join('')).toMatch(
      /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\n]+\n$/,
    );
    if (format === 'json') {
      expect(JSON.parse(written.join('')).agent).toBe(
        'a\u0085b\u2028c\u2029d\u000be\u000cf\u001cg',
      );
    }
  },
);
