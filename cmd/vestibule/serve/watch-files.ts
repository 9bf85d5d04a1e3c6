import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../observability/log.js';

/** For how long files are left at rest before they are looked at, in milliseconds. */
const rest = 100;

/**
 * Calls back whenever anything has moved beside these files and has come to rest: their folders are
 * watched, where Kubernetes swaps a link (docs/design/operations.md#watched-files). Gives back how
 * to stop.
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
      log.error({ err: error, folder }, 'files in this folder are not followed any more'),
    );
  return () => {
    stopping.abort();
    clearTimeout(resting);
  };
}
