/** Loaded before a server under test: answers how much processor time it used and how large it is; nothing else of it changes. */
process.on('message', ({ id, ask }: { id: number; ask: string }) => {
  if (ask !== 'usage') return;
  const { user, system } = process.cpuUsage();
  process.send!({ id, value: { cpuMicros: user + system, rss: process.memoryUsage.rss() } });
});
process.channel?.unref();
