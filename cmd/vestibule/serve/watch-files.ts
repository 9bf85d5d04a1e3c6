import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../observability/log.js';

/** Milliseconds from the first change until the files are read. */
const settleMs = 100;

/**
 * Calls `onChange` shortly after changes beside these files. Watches their folders, because
 * Kubernetes swaps a symlink there (docs/design/operations.md#watched-files). Returns a function
 * that stops it.
 */
export function watchFiles(files: readonly string[], onChange: () => void, log: Log): () => void {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      onChange();
    }, settleMs).unref();
  };
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    watch(folder, { signal: abort.signal, persistent: false }, schedule).on('error', (error) =>
      log.error(
        { err: error, folder },
        'watching this folder failed; changes to its files are ignored',
      ),
    );
  }
  return () => {
    abort.abort();
    clearTimeout(timer);
  };
}

/** What is logged of a reload: that it succeeded, or that what was read before stays in use. */
export interface ReloadMessages {
  readonly reloaded: string;
  readonly failed: string;
}

/**
 * Calls `reload` after changes of these files; it returns whether their content changed. What it
 * throws is logged. Returns a function that stops it.
 */
export const reloadFiles = (
  files: readonly string[],
  { reloaded, failed }: ReloadMessages,
  reload: () => boolean,
  log: Log,
): (() => void) =>
  watchFiles(
    files,
    () => {
      try {
        if (reload()) log.info({ files }, reloaded);
      } catch (error) {
        log.error({ err: error, files }, failed);
      }
    },
    log,
  );
