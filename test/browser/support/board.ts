import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '../../storage/etcd-server.js';
import { startTest, type TestService, temporary } from '../../support/service.js';

/** The second sample as hack/run starts it, and the service that loaded its manifests. */
export interface Board {
  readonly url: string;
  readonly service: TestService;
  stop(): void;
}

const sample = join(import.meta.dirname, '../../../deploy/examples/apps/board');

/** Starts a service with the sample's manifests, and the sample. */
export async function startBoard(): Promise<Board> {
  const [port] = await freePorts(1);
  const folder = join(temporary(), 'manifests');
  mkdirSync(folder);
  for (const file of readdirSync(join(sample, 'manifests'))) {
    writeFileSync(
      join(folder, file),
      readFileSync(join(sample, 'manifests', file), 'utf8').replaceAll(
        'localhost:8091',
        `localhost:${port}`,
      ),
    );
  }
  const policy =
    execFileSync(join(sample, '../../../../bin/vestibule'), ['policy'], { encoding: 'utf8' }) +
    readFileSync(join(sample, 'policy.cedar'), 'utf8');
  writeFileSync(
    join(folder, 'policy.yaml'),
    `apiVersion: id.vestibule.org/v1beta1\nkind: Policy\nspec:\n  cedar: |\n${policy.replaceAll(/^(?=.)/gm, '    ')}`,
  );
  const service = await startTest({ flags: ['--limit-factor', '1000', '--manifests', folder] });
  const child = spawn(process.execPath, [join(sample, 'server.mjs')], {
    env: { PATH: process.env.PATH, ISSUER: service.baseURL, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', () => resolve());
    child.once('exit', (code) => reject(new Error(`the sample stopped (${code})`)));
  });
  return {
    url: `http://localhost:${port}`,
    service,
    stop: () => {
      child.removeAllListeners('exit');
      child.kill();
    },
  };
}
