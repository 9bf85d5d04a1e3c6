import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { conformance } from './conformance.js';
import type { Store } from './store.js';

conformance('embedded', async ({ sweeping } = {}): Promise<Store> => {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-embedded-'));
  const open = () =>
    openEmbedded({ directory, ...(sweeping && { sweepIntervalMs: 50, sweepGraceMs: 0 }) });
  let storage = await open();
  return {
    get storage() {
      return storage;
    },
    async disturb() {
      await storage.close();
      storage = await open();
    },
    async close() {
      await storage.close();
      await rm(directory, { recursive: true });
    },
  };
});
