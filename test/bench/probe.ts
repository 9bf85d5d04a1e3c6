import { subscribe } from 'node:diagnostics_channel';
import { memoOf, type Counts } from './memo.js';

let counts: (() => Counts) | undefined;

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
      ...(counts && { memo: memoOf(counts(), 'policy.') }),
    },
  });
});
process.channel?.unref();
