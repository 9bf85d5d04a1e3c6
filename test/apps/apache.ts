import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Place } from './place.js';

/** Starts Apache with nothing but what the configuration of the page needs. */
export async function apache({ folder, port }: Place): Promise<Command> {
  const modules = [
    'mpm_event',
    'authn_core',
    'authz_core',
    'authz_user',
    'alias',
    'dir',
    'include',
  ];
  mkdirSync(join(folder, 'pages'));
  writeFileSync(join(folder, 'pages/index.html'), '<!--#echo var="REMOTE_USER" -->');
  writeFileSync(
    join(folder, 'httpd.conf'),
    [
      `ServerRoot ${folder}`,
      `ServerName localhost`,
      `Listen ${port}`,
      'PidFile httpd.pid',
      'ErrorLog httpd.log',
      ...[...modules, 'auth_openidc'].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
      `DocumentRoot ${folder}/pages`,
      'DirectoryIndex index.html',
      `<Directory ${folder}/pages>`,
      'Options +Includes',
      'SetOutputFilter INCLUDES',
      '</Directory>',
      'Include vestibule.conf',
      '',
    ].join('\n'),
  );
  return {
    program: 'apache2',
    args: ['-d', folder, '-f', 'httpd.conf', '-D', 'FOREGROUND'],
    log: 'httpd.log',
  };
}
