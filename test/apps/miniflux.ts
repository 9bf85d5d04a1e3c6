import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goTool, postgreSQL } from './packages.js';
import type { Command, Place } from './place.js';

/** Starts Miniflux with the settings of its template, on a PostgreSQL of its own. */
export async function miniflux({ folder, url, port }: Place): Promise<Command> {
  const data = join(folder, 'postgres');
  const script = [
    'set -e',
    `mkdir ${data}`,
    // PostgreSQL refuses to run as root.
    'as=; [ "$(id -u)" != 0 ] || { as="runuser -u postgres --"; chown postgres postgres; }',
    'export LC_ALL=C.UTF-8',
    `cd ${data}`,
    '$as "$BIN/initdb" -D database -U miniflux -A trust > initdb.log',
    `$as "$BIN/postgres" -D database -k ${data} -c listen_addresses= &`,
    `until "$BIN/pg_isready" -q -h ${data}; do sleep 0.1; done`,
    'exec "$MINIFLUX"',
  ];
  const settings = readFileSync(join(folder, 'settings'), 'utf8');
  const environment = {
    ...Object.fromEntries(settings.split('\n').map((line) => line.split(/=(.*)/s))),
    BIN: postgreSQL()!,
    MINIFLUX: join(await goTool('miniflux', 'miniflux.app/v2'), 'miniflux'),
    DATABASE_URL: `host=${data} user=miniflux dbname=postgres sslmode=disable`,
    RUN_MIGRATIONS: '1',
    BASE_URL: url,
    LISTEN_ADDR: `127.0.0.1:${port}`,
  };
  return { program: 'bash', args: ['-c', script.join('\n')], environment, ready: '/healthcheck' };
}
