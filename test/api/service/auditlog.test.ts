import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig } from '../../../cmd/vestibule/options/config.js';
import { AuditLog } from '../../../cmd/vestibule/serve/audit-log.js';
import { createLog, formatText } from '../../../observability/log.js';
import { freePorts } from '../../storage/etcd-server.js';
import { program } from '../../support/command.js';
import { mountDisk, mounts } from '../../support/disk.js';
import { settles } from '../../support/patience.js';
import { exchange } from '../../support/people/tab.js';
import { startTest, stopAll, temporary } from '../../support/service.js';

afterAll(stopAll);

const lines = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const log = createLog('silent');

test('an audit event is one line to every reader, with any data in it', async () => {
  const file = join(temporary(), 'audit.log');
  const audit = new AuditLog(file, log);
  const event = { agent: 'a\u0085b\u2028c\u2029d\u007fe', user: '\u001c\u000b' };
  audit.write(event);
  await audit.close();
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^[\u0020-\u007e]+\n$/);
  expect(JSON.parse(text)).toEqual(event);
});

describe('the audit log of the command', () => {
  let child: ChildProcess | undefined;
  afterEach(async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => {
      child!.once('exit', resolve);
    });
    child.kill('SIGTERM');
    await gone;
  });

  /** Starts it; what it says is added to `said`. */
  async function serve(
    ...flags: string[]
  ): Promise<{ url: string; said: { out: string; error: string } }> {
    const [port] = await freePorts(1);
    const said = { out: '', error: '' };
    child = spawn(
      process.execPath,
      [
        program,
        'serve',
        '--data-dir',
        temporary(),
        '--mock-mail',
        '--port',
        String(port),
        ...flags,
      ],
      { env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child.stdout!.on('data', (text: Buffer) => {
      said.out += text.toString();
    });
    child.stderr!.on('data', (text: Buffer) => {
      said.error += text.toString();
    });
    await settles(
      async () => said,
      ({ out }) => out.includes('ready '),
    );
    return { url: `http://127.0.0.1:${port}`, said };
  }
  const ask = (url: string, id: string) =>
    exchange(url, 'GET', '/api/v1beta1/clients', { 'audit-id': id });

  test('goes on in a new file on SIGHUP, without losing an event', async () => {
    const folder = temporary();
    const [now, former] = [join(folder, 'audit.log'), join(folder, 'audit.log.1')];
    const { url } = await serve('--audit-log-path', now);
    for (let i = 0; i < 20; i += 1) await ask(url, `before-${i}`);
    await settles(
      async () => lines(readFileSync(now, 'utf8')).length,
      (count) => count === 20,
    ); // an event is written a moment after its answer
    renameSync(now, former);
    const during = Promise.all(Array.from({ length: 40 }, (_, i) => ask(url, `during-${i}`)));
    child!.kill('SIGHUP');
    await during;
    await settles(async () => existsSync(now), Boolean);
    for (let i = 0; i < 20; i += 1) await ask(url, `after-${i}`);
    child!.kill('SIGTERM');
    await new Promise((resolve) => {
      child!.once('exit', resolve);
    });
    const [old, fresh] = [former, now].map((file) =>
      lines(readFileSync(file, 'utf8')).map(({ auditID }) => auditID as string),
    ) as [string[], string[]];
    expect([...old, ...fresh].sort()).toEqual(
      [
        ...Array.from({ length: 20 }, (_, i) => [`before-${i}`, `after-${i}`]).flat(),
        ...Array.from({ length: 40 }, (_, i) => `during-${i}`),
      ].sort(),
    );
    expect([
      old.filter((id) => id.startsWith('before')).length,
      fresh.filter((id) => id.startsWith('after')).length,
    ]).toEqual([20, 20]);
  });

  test('with - goes to standard output, behind the line that says it is ready', async () => {
    const { url, said } = await serve('--audit-log-path', '-', '--logging-format', 'text');
    await ask(url, 'seen');
    const [event] = lines(
      await settles(
        async () => said.out,
        (out) => out.includes('"auditID":"seen"'),
      ),
    );
    expect([event.auditID, event.sourceIPs, event.verb]).toEqual(['seen', ['127.0.0.1'], 'list']);
    const line = (
      await settles(
        async () => said.error,
        (error) => error.includes('auditID=seen'),
      )
    )
      .split('\n')
      .find((one) => one.includes('auditID=seen'))!;
    expect(line).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}request auditID=seen method=GET code=401 milliseconds=[\d.]+ verb=list resource=clients$/,
    );
    expect(lines(said.error)).toEqual([]);
  });

  test('is what SIGHUP is about: without one, the signal ends the process', async () => {
    await serve();
    const gone = new Promise((resolve) => {
      child!.once('exit', (...how) => resolve(how));
    });
    child!.kill('SIGHUP');
    expect(await gone).toEqual([null, 'SIGHUP']);
  });
});

describe('the disk of the audit log is full', () => {
  const run = mounts ? test : test.skip;
  run(
    `events are lost and counted, and it goes on with room, on a line of its own${mounts ? '' : ' (skipped: mounting a tmpfs is not permitted)'}`,
    async () => {
      const disk = temporary();
      mountDisk(disk, 1);
      try {
        writeFileSync(join(disk, 'other'), Buffer.alloc(512 << 10));
        const messages: unknown[] = [];
        const audit = new AuditLog(join(disk, 'audit.log'), {
          ...log,
          error: (fields: unknown) => {
            messages.push(fields);
          },
        } as never);
        const padding = 'x'.repeat(10_000);
        for (let n = 0; n < 100; n += 1) audit.write({ n, padding });
        await settles(
          async () => messages,
          ([first]) => first !== undefined,
        );
        rmSync(join(disk, 'other'));
        for (let n = 100; n < 110; n += 1) audit.write({ n, padding });
        await audit.close();
        const { events, errors } = audit.counts;
        const whole = readFileSync(join(disk, 'audit.log'), 'utf8')
          .split('\n')
          .flatMap((line) => {
            try {
              return [JSON.parse(line).n as number];
            } catch {
              return [];
            }
          });
        expect([events, messages, errors > 0, whole.length]).toEqual([
          110,
          [{ why: 'ENOSPC' }],
          true,
          events - errors,
        ]);
        expect(whole.slice(-10)).toEqual(Array.from({ length: 10 }, (_, i) => 100 + i));
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    },
  );
});

test('what comes after the end is lost, and touches no file that was opened since', async () => {
  const folder = temporary();
  const audit = new AuditLog(join(folder, 'audit.log'), log);
  audit.write({ n: 1 });
  await audit.close();
  const other = openSync(join(folder, 'other'), 'w');
  audit.write({ n: 2 });
  await audit.reopen();
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  closeSync(other);
  expect([
    audit.counts,
    lines(readFileSync(join(folder, 'audit.log'), 'utf8')),
    readFileSync(join(folder, 'other'), 'utf8'),
  ]).toEqual([{ events: 1, errors: 1 }, [{ n: 1 }], '']);
});

test('what cannot be written in time is dropped and counted, and no one waits', async () => {
  const messages: unknown[] = [];
  const file = join(temporary(), 'audit.log');
  const audit = new AuditLog(file, {
    ...log,
    error: (fields: unknown) => {
      messages.push(fields);
    },
  } as never);
  const event = { padding: 'x'.repeat(1 << 20) };
  for (let i = 0; i < 12; i += 1) audit.write(event);
  expect(audit.counts).toEqual({ events: 7, errors: 5 });
  await audit.close();
  expect([lines(readFileSync(file, 'utf8')).length, messages]).toEqual([
    7,
    [{ why: 'writes are too slow' }],
  ]);
});

test('a path that cannot be written stops the start, and so do settings that are wrong', async () => {
  const folder = join(temporary(), 'audit.log');
  mkdirSync(folder);
  await expect(startTest({ flags: ['--audit-log-path', folder] })).rejects.toThrow(
    /^--audit-log-path: .* cannot be written \(EISDIR\)$/,
  );
  const problems = (...flags: string[]): readonly string[] => {
    try {
      readConfig(['--data-dir', 'x', '--mock-mail', ...flags], {});
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  expect(
    problems(
      '--metrics-port',
      '70000',
      '--logging-format',
      'xml',
      '--audit-log-path',
      '/nowhere/at/all',
    ),
  ).toEqual([
    '--metrics-port must be a whole number from 0 to 65535; got 70000',
    '--logging-format must be json or text',
    '--audit-log-path: there is no folder for "/nowhere/at/all"',
  ]);
  expect(problems('--metrics-port', 'many')).toEqual(['--metrics-port must be a number']);
  expect(problems('--metrics-port', '8080')).toEqual(['--metrics-port and --port must differ']);
  expect(problems('--metrics-port', '8443', '--secure-port', '8443')).toEqual([
    '--metrics-port and --secure-port must differ',
  ]);
  expect(problems('--metrics-port', '0', '--port', '0')).toEqual([]);
  expect(
    readConfig([], {
      VESTIBULE_DATA_DIR: 'x',
      VESTIBULE_MOCK_MAIL: 'true',
      VESTIBULE_METRICS_PORT: '9090',
      VESTIBULE_AUDIT_LOG_PATH: '-',
    }),
  ).toMatchObject({ metricsPort: 9090, auditLogPath: '-', loggingFormat: 'json' });
  expect(
    readConfig(
      [
        '--data-dir',
        'x',
        '--smtp-url',
        'smtps://me:hush@mail.example.test',
        '--email-from',
        'a@example.test',
      ],
      {},
    ).displayed,
  ).toMatchObject({ 'smtp-url': '***', 'data-dir': 'x' });
});

test('a line for people is one line, with any content, and an error brings its stack', () => {
  const line = (fields: Record<string, unknown>): string =>
    formatText(JSON.stringify({ level: 'warn', time: '2026-01-01T00:00:00.000Z', ...fields }));
  expect(
    line({ message: 'a\nb\u001b[2J', why: 'x\ny', n: 3, list: ['a'], wide: '\u202eoops\u009b' }),
  ).toBe(
    '2026-01-01T00:00:00.000Z WARN  a\ufffdb\ufffd[2J why="x\\ny" n=3 list=["a"] wide="\ufffdoops\ufffd"\n',
  );
  expect(
    line({
      message: 'm',
      err: {
        type: 'Error',
        message: 'no luck',
        stack: 'Error: no luck\n    at one (a.js:1:1)\n    at two',
      },
    }),
  ).toBe('2026-01-01T00:00:00.000Z WARN  m error="no luck"\n    at one (a.js:1:1)\n    at two\n');
  const written: string[] = [];
  const shown = createLog(
    'info',
    {
      write: (text: string) => {
        written.push(text);
        return true;
      },
    } as never,
    'text',
  );
  shown.info({ email: 'ada@example.test', token: 'abc' }, 'hello');
  expect(written.join('')).toMatch(
    /INFO {2}hello email=\*\*\* token=\*\*\*\n$|INFO {2}hello email="\*\*\*" token="\*\*\*"\n$/,
  );
});
