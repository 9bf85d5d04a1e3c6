import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { client } from '../flow.js';
import { Delivery } from './delivery.js';
import { bodyOf, redirect, sendJSON, sendPage } from './http.js';
import { HydraAdmin } from './hydra-admin.js';
import { accountOf, EmailCodes, openRecords } from './records.js';

/**
 * The application beside Hydra, which is its child: sends codes, checks them and asks for consent, each
 * page as the service's own is, and reports to Hydra over its administrative port.
 */
const { hydra, open, admin, environment } = JSON.parse(
  readFileSync(join(process.env.FOLDER!, 'hydra.json'), 'utf8'),
);
const child = spawn(hydra, ['serve', 'all', '--dev'], {
  env: { ...process.env, ...environment },
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('exit', () => process.exit());

const records = openRecords(process.env.FOLDER!);
const delivery = new Delivery();
const codes = new EmailCodes(records, delivery);
const api = new HydraAdmin(admin);
const scopes = client.scope.split(' ');

const server = createServer((request, response) => {
  if (delivery.answer(request, response)) return;
  answer(request, response).catch((error: Error) =>
    sendJSON(response, { message: error.message }, 500),
  );
});
server.keepAliveTimeout = 65_000;
server.listen(Number(process.env.PORT), '127.0.0.1');

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
  const [kind] = pathname.slice(1).split('/');
  const challenge = searchParams.get(`${kind}_challenge`) ?? '';
  if (pathname === '/login') return sendPage(response);
  if (pathname === '/consent') return showConsent(response, challenge);
  if (pathname === '/login/code') {
    const { email } = await bodyOf(request);
    await codes.send(challenge, email);
    return sendJSON(response, { sent: true });
  }
  if (pathname === '/login/answer') return logIn(response, challenge, (await bodyOf(request)).code);
  if (pathname === '/consent/answer') return sendJSON(response, await agree(challenge));
  if (kind === 'login' || kind === 'consent') {
    return sendJSON(response, await api.read(kind, challenge));
  }
  if (pathname === '/ports') return sendJSON(response, { open });
  return sendJSON(response, await api.pass(open, pathname, client));
}

/** Shows the page of consent; goes on at once where consent was given before. */
async function showConsent(response: ServerResponse, challenge: string): Promise<void> {
  const { skip } = await api.read('consent', challenge);
  if (!skip) return sendPage(response);
  redirect(response, (await agree(challenge)).redirect_to);
}

async function logIn(response: ServerResponse, challenge: string, code: string): Promise<void> {
  const email = await codes.redeem(challenge, code);
  if (email === undefined) return sendJSON(response, { message: 'wrong code' }, 400);
  const subject = await accountOf(records, email);
  sendJSON(response, await api.accept('login', challenge, { subject, remember: true }));
}

const agree = (challenge: string): Promise<{ redirect_to: string }> =>
  api.accept('consent', challenge, { grant_scope: scopes, remember: true, remember_for: 0 });
