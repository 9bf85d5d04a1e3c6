import { pino, type Logger } from 'pino';

/** One JSON line an event on standard error (`security.md` 1.7). */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

const secret = ['code', 'token', 'cookie', 'secret', 'authorization', 'password', 'email', 'address', 'body', 'payload'];
const redact = { paths: secret.flatMap((name) => [name, `*.${name}`]), censor: (value: unknown) => (typeof value === 'number' ? value : '***') };

/** Errors as class and message alone: what hangs on them may hold a request. */
const err = (error: unknown): unknown => error instanceof Error
  ? { type: error.name, message: error.message, stack: error.stack } : { type: typeof error };

/** The process's log; `level` is one of pino's, `silent` included. */
export function createLog(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  return pino({ level, base: null, messageKey: 'message', timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) }, redact, serializers: { err } }, destination);
}
