import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goSource, goTool } from './packages.js';
import type { Command, Place } from './place.js';

const module = 'code.gitea.io/gitea';

/** Starts Gitea after the commands of its template, with nothing else but what a server needs. */
export async function gitea({ folder, url, port }: Place): Promise<Command> {
  const tags = 'sqlite,sqlite_unlock_notify';
  const built = await goTool('gitea', module, { tags, cgo: true });
  const settings = [
    '[server]',
    'HTTP_ADDR = 127.0.0.1',
    `HTTP_PORT = ${port}`,
    `ROOT_URL = ${url}/`,
    'DISABLE_SSH = true',
    // The templates of its pages. The module has no scripts and styles; the pages work without.
    `STATIC_ROOT_PATH = ${await goSource(built, module)}`,
    '[database]',
    'DB_TYPE = sqlite3',
    '[security]',
    'INSTALL_LOCK = true',
    '[oauth2_client]',
    'ENABLE_AUTO_REGISTRATION = true', // as the note of the template says
    '',
  ];
  mkdirSync(join(folder, 'custom/conf'), { recursive: true });
  writeFileSync(join(folder, 'custom/conf/app.ini'), settings.join('\n'));
  const script = ['set -e', 'gitea migrate', '. ./settings', 'exec gitea web'];
  const environment = {
    PATH: `${built}:${process.env.PATH}`,
    GITEA_WORK_DIR: folder,
    GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true',
  };
  return { program: 'bash', args: ['-c', script.join('\n')], environment, ready: '/api/healthz' };
}
