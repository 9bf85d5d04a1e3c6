import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ClientSpec } from '../../../kinds/apps/client/client.js';
import { freePorts } from '../../storage/etcd-server.js';
import { createClient, type TestService } from '../../support/service.js';

/** The sample relying party as hack/run starts it. */
export interface Notes {
  readonly url: string;
  /** What it said of itself, over all its lives. */
  readonly lines: readonly string[];
  stop(): void;
  /** Stops it where it stands: it answers nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends its process, and with it all it remembers: no one listens there until `start`. */
  end(): Promise<void>;
  /** A new process at the same address. */
  start(): Promise<void>;
}

/** Starts the sample against a service, with a Client of its own. */
export async function startNotes(
  service: TestService,
  spec: Partial<ClientSpec> = {},
): Promise<Notes> {
  const [port] = await freePorts(1);
  const url = `http://localhost:${port}`;
  const secret = randomBytes(32).toString('base64url');
  await createClient(service, 'notes', {
    displayName: 'Notes',
    type: 'Confidential',
    homepageURI: `${url}/`,
    initiateLoginURI: `${url}/login`,
    redirectURIs: [`${url}/callback`],
    postLogoutRedirectURIs: [`${url}/`],
    backchannelLogoutURI: `${url}/backchannel-logout`,
    secretHashes: [`sha256:${createHash('sha256').update(secret).digest('hex')}`],
    ...spec,
  });
  const lines: string[] = [];
  let child: ChildProcess;
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      child = spawn(process.execPath, ['deploy/examples/apps/notes/server.mjs'], {
        cwd: join(import.meta.dirname, '../../..'),
        env: {
          PATH: process.env.PATH,
          ISSUER: service.baseURL,
          CLIENT_ID: 'notes',
          CLIENT_SECRET: secret,
          PORT: String(port),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      createInterface({ input: child.stdout! }).on('line', (line) => {
        lines.push(line);
        resolve();
      });
      child.once('exit', (code) => reject(new Error(`the sample stopped (${code})`)));
    });
  const kill = (): void => {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  };
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      kill();
      child.once('exit', () => resolve());
    });
  await start();
  return {
    url,
    lines,
    start,
    end,
    stop: kill,
    pause: () => {
      child.kill('SIGSTOP');
    },
    resume: () => {
      child.kill('SIGCONT');
    },
  };
}
