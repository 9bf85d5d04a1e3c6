import { type Logger, pino } from 'pino';
import { escapeSeparators } from './json-line.js';

/** A log with one line per event on standard error (docs/design/security.md#logs). */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

const secretNames = new Set([
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
 * Redacts fields with the name of a secret, on the first and second level. Numbers are kept, since
 * they are statuses.
 */
function redact(fields: Record<string, unknown>, levels = 2): Record<string, unknown> {
  let redacted = fields;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const next = redactField(name, value, levels);
    if (next === value) continue;
    if (redacted === fields) redacted = { ...fields };
    redacted[name] = next;
  }
  return redacted;
}

function redactField(name: string, value: unknown, levels: number): unknown {
  if (secretNames.has(name) && value !== undefined && typeof value !== 'number') return '***';
  if (levels <= 1 || typeof value !== 'object' || value === null || value instanceof Error) {
    return value;
  }
  return redact(value as Record<string, unknown>, levels - 1);
}

/** Serializes errors with class, message and stack only; other properties may hold a request. */
const err = (error: unknown): unknown =>
  error instanceof Error
    ? { type: error.name, message: error.message, stack: error.stack }
    : { type: typeof error };

/**
 * Creates the process's log. `level` is one of pino's, including `silent`; `format` is `json`, or
 * `text` for people.
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
      formatters: { level: (label) => ({ level: label }), log: redact },
      serializers: { err },
    },
    {
      write: (line) =>
        void destination.write(format === 'json' ? escapeSeparators(line) : formatText(line)),
    },
  );
}

/**
 * Returns a stream that writes all lines of one turn of the event loop together, and the rest at
 * exit. Each write to standard error is a system call that blocks the process.
 */
export function bufferedStream(
  stream: Pick<NodeJS.WritableStream, 'write'>,
): Pick<NodeJS.WritableStream, 'write'> {
  let buffer = '';
  const flush = (): void => {
    const lines = buffer;
    buffer = '';
    if (lines !== '') stream.write(lines);
  };
  process.once('exit', flush);
  return {
    write(line: string): boolean {
      if (buffer === '') setImmediate(flush);
      buffer += line;
      return true;
    },
  };
}

/**
 * Formats a line for people: time, level, message, and fields as `name=value`, with an error's
 * stack below. Values that are not plain text stay quoted.
 */
export function formatText(line: string): string {
  const {
    time,
    level,
    message,
    err: error,
    ...fields
  } = JSON.parse(line) as Record<string, unknown> & { err?: { message?: string; stack?: string } };
  const fieldText = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${formatValue(value)}`);
  const errorText = error
    ? ` error=${formatValue(error.message)}${
        error.stack
          ? `\n${error.stack
              .split('\n')
              .slice(1)
              .map((frame) => `    ${stripControlCharacters(frame.trim())}`)
              .join('\n')}`
          : ''
      }`
    : '';
  return `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${stripControlCharacters(String(message ?? ''))}${fieldText.join('')}${errorText}\n`;
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)
    ? value
    : stripControlCharacters(JSON.stringify(value) ?? '');

/** Replaces control characters, which must not reach a terminal. */
const stripControlCharacters = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
