import { closeSync, openSync, write } from 'node:fs';
import type { AuditSink } from '../../../apiserver/chain/audit.js';
import { escapeSeparators } from '../../../observability/json-line.js';
import type { Log } from '../../../observability/log.js';
import type { DisposableStack } from '../../../security/disposable-stack.js';
import { ConfigError } from '../options/config.js';
import { errorCode } from '../terminal/thrown.js';

/**
 * The bytes that may wait to be written. Events beyond are dropped and counted, because no request
 * waits for the audit log.
 */
const maxQueuedBytes = 8 << 20;
const newline = 10;

/** Opens the audit log. Throws a ConfigError if the path cannot be written. */
export function createAuditLog(path: string, log: Log): AuditLog {
  try {
    return new AuditLog(path, log);
  } catch (error) {
    throw new ConfigError([`--audit-log-path: ${path} cannot be written (${errorCode(error)})`]);
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
  #queue: string[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;
  #isReopenDue = false;
  #isMidLine = false;
  #isClosed = false;

  /** Throws if the file cannot be opened. */
  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
    this.#file = open(path);
  }

  write(event: Readonly<Record<string, unknown>>): void {
    if (this.#isClosed) return void (this.counts.errors += 1);
    const line = `${escapeSeparators(JSON.stringify(event))}\n`;
    if (this.#queuedBytes + line.length > maxQueuedBytes) {
      this.counts.errors += 1;
      return this.#logLoss('writes are too slow');
    }
    this.counts.events += 1;
    this.#queuedBytes += line.length;
    this.#queue.push(line);
    this.#writing ??= this.#writeQueue();
  }

  /**
   * Continues in the file that now has this name, or creates it; for log rotation. Standard output
   * stays as it is.
   */
  async reopen(): Promise<void> {
    if (this.#path === '-' || this.#isClosed) return;
    this.#isReopenDue = true;
    this.#writing ??= this.#writeQueue();
    await this.#writing;
  }

  /** Writes the queue and closes. Later events are lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    if (this.#path !== '-') closeSync(this.#file);
  }

  async #writeQueue(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#queue.length > 0 || this.#isReopenDue) {
      if (this.#isReopenDue) this.#reopenFile();
      const lines = this.#queue;
      const bytes = this.#queuedBytes;
      this.#queue = [];
      await this.#writeLines(lines);
      this.#queuedBytes -= bytes;
    }
    this.#writing = undefined;
  }

  /** Runs between two writes only, so that no file is closed while it is written. */
  #reopenFile(): void {
    this.#isReopenDue = false;
    const former = this.#file;
    try {
      this.#file = open(this.#path);
      this.#isMidLine = false;
      closeSync(former);
    } catch (error) {
      this.#log.error(
        { err: error },
        'reopening the audit log failed; still writing to the former file',
      );
    }
  }

  /** After a write that stopped inside a line (disk full), the next one begins on a new line. */
  async #writeLines(lines: readonly string[]): Promise<void> {
    const data = Buffer.from(`${this.#isMidLine ? '\n' : ''}${lines.join('')}`);
    let written = 0;
    try {
      while (written < data.length) written += await writeSome(this.#file, data, written);
      this.#isFailing = false;
      this.#isMidLine = false;
    } catch (error) {
      const completeLines =
        data.subarray(0, written).filter((byte) => byte === newline).length -
        (this.#isMidLine ? 1 : 0);
      this.counts.errors += lines.length - Math.max(0, completeLines);
      if (written > 0) this.#isMidLine = data[written - 1] !== newline;
      this.#logLoss(errorCode(error) ?? 'unknown');
    }
  }

  /** Logs the first loss, then nothing until a write succeeds again. */
  #logLoss(why: string): void {
    if (!this.#isFailing) this.#log.error({ why }, 'audit events are lost');
    this.#isFailing = true;
  }
}

const open = (path: string): number => (path === '-' ? 1 : openSync(path, 'a', 0o600));

const writeSome = (file: number, data: Buffer, offset: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(file, data, offset, data.length - offset, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(resolve, 10, 0);
      } else if (error) {
        reject(error);
      } else {
        resolve(written);
      }
    });
  });

export function openAuditLog(
  path: string | undefined,
  log: Log,
  disposables: DisposableStack,
): AuditLog | undefined {
  if (path === undefined) return undefined;
  const audit = createAuditLog(path, log);
  disposables.add(() => audit.close());
  return audit;
}
