import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Returns the etcd to run: VESTIBULE_TEST_ETCD, or the supported one that `build` built, or that of the PATH
 * where none can be built.
 */
export function findEtcd() {
  const given = process.env.VESTIBULE_TEST_ETCD;
  if (given) return given;
  const { status, stdout } = spawnSync(join(import.meta.dirname, 'build'), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim() : 'etcd';
}
