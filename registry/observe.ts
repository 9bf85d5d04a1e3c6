import { pino, type Logger } from 'pino';

/** One JSON line an event on standard error (`security.md` 1.7). */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

const secret = new Set(['code', 'token', 'cookie', 'secret', 'authorization', 'password', 'email', 'address', 'body', 'payload']);

/** Fields without what stands under a secret's name, on the first level or the second; numbers under such a name are statuses. */
function censored(fields: Record<string, unknown>, levels = 2): Record<string, unknown> {
  let shown = fields;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const next = secret.has(name) && value !== undefined && typeof value !== 'number' ? '***'
      : levels > 1 && typeof value === 'object' && value !== null && !(value instanceof Error) ? censored(value as Record<string, unknown>, levels - 1) : value;
    if (next === value) continue;
    if (shown === fields) shown = { ...fields };
    shown[name] = next;
  }
  return shown;
}

/** Errors as class and message alone: what hangs on them may hold a request. */
const err = (error: unknown): unknown => error instanceof Error
  ? { type: error.name, message: error.message, stack: error.stack } : { type: typeof error };

/** The process's log; `level` is one of pino's, `silent` included. */
export function createLog(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  return pino({ level, base: null, messageKey: 'message', timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }), log: censored }, serializers: { err } }, destination);
}
