import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../observability/log.js';

/** Milliseconds without a change before the files are read. */
const rest = 100;

/**
 * Calls `changed` after changes beside these files have settled. Watches their folders, because
 * Kubernetes swaps a symlink there (docs/design/operations.md#watched-files). Returns a function
 * that stops it.
 */
export function followFiles(files: readonly string[], changed: () => void, log: Log): () => void {
  const stopping = new AbortController();
  let resting: NodeJS.Timeout | undefined;
  const moved = (): void => {
    resting ??= setTimeout(() => {
      resting = undefined;
      changed();
    }, rest).unref();
  };
  for (const folder of new Set(files.map((file) => dirname(file))))
    watch(folder, { signal: stopping.signal, persistent: false }, moved).on('error', (error) =>
      log.error(
        { err: error, folder },
        'watching this folder failed; changes to its files are ignored',
      ),
    );
  return () => {
    stopping.abort();
    clearTimeout(resting);
  };
}
