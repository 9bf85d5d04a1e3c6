import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '../../storage/etcd-server.js';
import { createClient, type TestService } from '../../support/service.js';
import type { ClientSpec } from '../../../kinds/client.js';

/** The sample relying party as hack/run starts it. */
export interface Notes { readonly url: string; stop(): void; /** Stops it where it stands: it answers nothing until `resume`. */ pause(): void; resume(): void }

/** Starts the sample against a service, with a Client of its own. */
export async function startNotes(service: TestService, spec: Partial<ClientSpec> = {}): Promise<Notes> {
  const [port] = await freePorts(1);
  const url = `http://localhost:${port}`;
  const secret = randomBytes(32).toString('base64url');
  await createClient(service, 'notes', {
    displayName: 'Notes', type: 'Confidential', homepageURI: `${url}/`, initiateLoginURI: `${url}/login`, redirectURIs: [`${url}/callback`], postLogoutRedirectURIs: [`${url}/`], backchannelLogoutURI: `${url}/backchannel-logout`,
    secretHashes: [`sha256:${createHash('sha256').update(secret).digest('hex')}`], ...spec,
  });
  const child = spawn(process.execPath, ['deploy/examples/apps/notes/server.mjs'], { cwd: join(import.meta.dirname, '../../..'), env: { PATH: process.env.PATH, ISSUER: service.baseURL, CLIENT_ID: 'notes', CLIENT_SECRET: secret, PORT: String(port) }, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => { createInterface({ input: child.stdout! }).once('line', () => resolve()); child.once('exit', (code) => reject(new Error(`the sample stopped (${code})`))) });
  return { url, stop: () => { child.removeAllListeners('exit'); child.kill('SIGKILL') }, pause: () => { child.kill('SIGSTOP') }, resume: () => { child.kill('SIGCONT') } };
}
