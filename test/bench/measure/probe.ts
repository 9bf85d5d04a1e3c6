import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { type Counts, memoOf } from '../memo.js';

let counts: (() => Counts) | undefined;

/** Resident bytes that are not pages of files: the kernel can drop those at any time. */
function anonymousBytes(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]) * 1024;
}

/**
 * Loaded before a server under test: answers how much processor time it used, how large it is, and
 * what its policy remembered; nothing else of it changes.
 */
subscribe('vestibule.started', (service) => {
  counts = (service as { counts(): Counts }).counts;
});
process.on('message', ({ id, ask }: { id: number; ask: string }) => {
  if (ask !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send!({
    id,
    value: {
      cpuMicros: user + system,
      rss: process.memoryUsage.rss(),
      anonymous: anonymousBytes(),
      ...(counts && { memo: memoOf(counts(), 'policy.') }),
    },
  });
});
process.channel?.unref();
