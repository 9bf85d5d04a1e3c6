import { pino, type Logger } from 'pino';
import { escapeSeparators } from './json-line.js';

/** One line an event on standard error (docs/design/security.md#logs). */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

const secret = new Set([
  'code',
  'token',
  'cookie',
  'secret',
  'authorization',
  'password',
  'email',
  'address',
  'body',
  'payload',
]);

/**
 * Fields without what stands under a secret's name, on the first level or the second; numbers under
 * such a name are statuses.
 */
function censored(fields: Record<string, unknown>, levels = 2): Record<string, unknown> {
  let shown = fields;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const next = censoredField(name, value, levels);
    if (next === value) continue;
    if (shown === fields) shown = { ...fields };
    shown[name] = next;
  }
  return shown;
}

function censoredField(name: string, value: unknown, levels: number): unknown {
  if (secret.has(name) && value !== undefined && typeof value !== 'number') return '***';
  if (levels <= 1 || typeof value !== 'object' || value === null || value instanceof Error)
    return value;
  return censored(value as Record<string, unknown>, levels - 1);
}

/** Errors as class and message alone: what hangs on them may hold a request. */
const err = (error: unknown): unknown =>
  error instanceof Error
    ? { type: error.name, message: error.message, stack: error.stack }
    : { type: typeof error };

/**
 * The process's log; `level` is one of pino's, `silent` included; `format` is `json`, or `text` for
 * people.
 */
export function createLog(
  level: string,
  destination: Pick<NodeJS.WritableStream, 'write'> = process.stderr,
  format: 'json' | 'text' = 'json',
): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: censored },
      serializers: { err },
    },
    {
      write: (line) =>
        void destination.write(format === 'json' ? escapeSeparators(line) : formatText(line)),
    },
  );
}

/**
 * A stream that is told what one turn of the event loop has to say by one write, and the rest at
 * the exit: each write to standard error is a system call that the whole process waits for.
 */
export function bufferedStream(
  stream: Pick<NodeJS.WritableStream, 'write'>,
): Pick<NodeJS.WritableStream, 'write'> {
  let held = '';
  const tell = (): void => {
    const lines = held;
    held = '';
    if (lines !== '') stream.write(lines);
  };
  process.once('exit', tell);
  return {
    write(line: string): boolean {
      if (held === '') setImmediate(tell);
      held += line;
      return true;
    },
  };
}

/**
 * A line for people: time, level, message, and the fields as `name=value`; an error's stack below.
 * Everything else that is not plain text stays quoted.
 */
export function formatText(line: string): string {
  const {
    time,
    level,
    message,
    err: thrown,
    ...fields
  } = JSON.parse(line) as Record<string, unknown> & { err?: { message?: string; stack?: string } };
  const told = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${shown(value)}`);
  const why = thrown
    ? ` error=${shown(thrown.message)}${
        thrown.stack
          ? `\n${thrown.stack
              .split('\n')
              .slice(1)
              .map((one) => `    ${plain(one.trim())}`)
              .join('\n')}`
          : ''
      }`
    : '';
  return `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${plain(String(message ?? ''))}${told.join('')}${why}\n`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)
    ? value
    : plain(JSON.stringify(value) ?? '');

/** No control character reaches a terminal. */
const plain = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
