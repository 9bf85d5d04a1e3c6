import type { DisposableStack } from './disposables.js';
import { closeSync, openSync, write } from 'node:fs';
import type { AuditSink } from '../../../apiserver/chain/audit.js';
import { ConfigError } from '../options/config.js';
import { escapeSeparators } from '../../../observability/json-line.js';
import type { Log } from '../../../observability/log.js';

/**
 * The bytes that may wait to be written. Events beyond are dropped and counted, because no request
 * waits for the audit log.
 */
const max = 8 << 20;
const newline = 10;

/** Opens the audit log. Throws a ConfigError if the path cannot be written. */
export function auditLog(path: string, log: Log): AuditLog {
  try {
    return new AuditLog(path, log);
  } catch (error) {
    throw new ConfigError([
      `--audit-log-path: ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`,
    ]);
  }
}

/**
 * Writes audit events as JSON lines, in order and after the response: to a file, or to standard
 * output for `-`.
 */
export class AuditLog implements AuditSink {
  /** Events accepted, and events lost. */
  readonly counts = { events: 0, errors: 0 };
  readonly #path: string;
  readonly #log: Log;
  #file: number;
  #waiting: string[] = [];
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #failing = false;
  #due = false;
  #torn = false;
  #closed = false;

  /** Throws if the file cannot be opened. */
  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#file = open(path);
  }

  write(event: Readonly<Record<string, unknown>>): void {
    if (this.#closed) return void (this.counts.errors += 1);
    const line = `${escapeSeparators(JSON.stringify(event))}\n`;
    if (this.#bytes + line.length > max) {
      this.counts.errors += 1;
      return this.#complain('writes are too slow');
    }
    this.counts.events += 1;
    this.#bytes += line.length;
    this.#waiting.push(line);
    this.#writing ??= this.#run();
  }

  /**
   * Continues in the file that now has this name, or creates it; for log rotation. Standard output
   * stays as it is.
   */
  async reopen(): Promise<void> {
    if (this.#path === '-' || this.#closed) return;
    this.#due = true;
    this.#writing ??= this.#run();
    await this.#writing;
  }

  /** Writes the queue and closes. Later events are lost. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#writing;
    if (this.#path !== '-') closeSync(this.#file);
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0 || this.#due) {
      if (this.#due) this.#follow();
      const lines = this.#waiting;
      const bytes = this.#bytes;
      this.#waiting = [];
      await this.#put(lines);
      this.#bytes -= bytes;
    }
    this.#writing = undefined;
  }

  /** Runs between two writes only, so that no file is closed while it is written. */
  #follow(): void {
    this.#due = false;
    const former = this.#file;
    try {
      this.#file = open(this.#path);
      this.#torn = false;
      closeSync(former);
    } catch (error) {
      this.#log.error(
        { err: error },
        'reopening the audit log failed; still writing to the former file',
      );
    }
  }

  /** After a write that stopped inside a line (disk full), the next one begins on a new line. */
  async #put(lines: readonly string[]): Promise<void> {
    const text = Buffer.from(`${this.#torn ? '\n' : ''}${lines.join('')}`);
    let written = 0;
    try {
      while (written < text.length) written += await some(this.#file, text, written);
      this.#failing = false;
      this.#torn = false;
    } catch (error) {
      const ends =
        text.subarray(0, written).filter((byte) => byte === newline).length - (this.#torn ? 1 : 0);
      this.counts.errors += lines.length - Math.max(0, ends);
      if (written > 0) this.#torn = text[written - 1] !== newline;
      this.#complain((error as NodeJS.ErrnoException).code ?? 'unknown');
    }
  }

  /** Logs the first loss, then nothing until a write succeeds again. */
  #complain(why: string): void {
    if (!this.#failing) this.#log.error({ why }, 'audit events are lost');
    this.#failing = true;
  }
}

const open = (path: string): number => (path === '-' ? 1 : openSync(path, 'a', 0o600));

const some = (file: number, text: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file, text, from, text.length - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(resolve, 10, 0);
      else if (error) reject(error);
      else resolve(written);
    });
  });

export function openAudit(
  path: string | undefined,
  log: Log,
  held: DisposableStack,
): AuditLog | undefined {
  if (path === undefined) return undefined;
  const audit = auditLog(path, log);
  held.add(() => audit.close());
  return audit;
}
