import type { DisposableStack } from './disposables.js';
import { closeSync, openSync, write } from 'node:fs';
import type { AuditSink } from '../../../apiserver/chain/audit.js';
import { ConfigError } from '../options/config.js';
import { escapeSeparators } from '../../../observability/json-line.js';
import type { Log } from '../../../observability/log.js';

/**
 * So many bytes may wait to be written; what comes beyond is dropped and counted, since no one
 * waits for the audit log.
 */
const max = 8 << 20;
const newline = 10;

/** Opens the audit log; a path that cannot be written to stops the start. */
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
 * Audit events as one JSON line each, written behind the answers in the order they came: to a file,
 * or with `-` to standard output.
 */
export class AuditLog implements AuditSink {
  /** Events written or about to be, and those that were not. */
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

  /** Throws where the file cannot be opened. */
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
      return this.#complain('it is written too slowly');
    }
    this.counts.events += 1;
    this.#bytes += line.length;
    this.#waiting.push(line);
    this.#writing ??= this.#run();
  }

  /**
   * Goes on in the file that is there now, or makes one: for anyone who has renamed the former.
   * Standard output stays what it is.
   */
  async reopen(): Promise<void> {
    if (this.#path === '-' || this.#closed) return;
    this.#due = true;
    this.#writing ??= this.#run();
    await this.#writing;
  }

  /** Writes what waits, and closes; what comes later is lost. */
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

  /** Between two writes alone: a file is never closed under one. */
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
        'the audit log could not be opened again; the former file is written on',
      );
    }
  }

  /** Where the disk was full in the midst of a line, the next begins on one of its own. */
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

  /** Once, until it works again. */
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
