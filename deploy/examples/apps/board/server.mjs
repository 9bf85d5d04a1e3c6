import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { clubhouse } from './clubhouse.mjs';

const { ISSUER = 'http://localhost:8080', CLIENT_ID = 'board', PORT = '8091' } = process.env;
const self = process.env.SELF ?? `http://localhost:${PORT}`;

const here = fileURLToPath(new URL('.', import.meta.url));
const library = (name) => fileURLToPath(import.meta.resolve(name));
const jose = library('jose').replace(/index\.js$/, '');

/** The paths of the modules that openid-client imports in the page. */
const imports = JSON.stringify({
  imports: {
    'openid-client': '/lib/openid-client.js',
    oauth4webapi: '/lib/oauth4webapi.js',
    'jose/jwe/compact/decrypt': '/lib/jose/jwe/compact/decrypt.js',
    'jose/errors': '/lib/jose/util/errors.js',
  },
});
const page = readFileSync(`${here}index.html`, 'utf8')
  .replace('{imports}', imports)
  .replace('{issuer}', ISSUER)
  .replace('{client}', CLIENT_ID);
const hash = createHash('sha256').update(imports).digest('base64');
const policy = `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; connect-src ${ISSUER}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const files = {
  '/board.mjs': `${here}board.mjs`,
  '/board.css': `${here}board.css`,
  '/lib/openid-client.js': library('openid-client'),
  '/lib/oauth4webapi.js': library('oauth4webapi'),
};
const fileOf = (path) =>
  files[path] ??
  (/^\/lib\/jose(\/[a-z0-9_]+)+\.js$/.test(path)
    ? jose + path.slice('/lib/jose/'.length)
    : undefined);

const review = clubhouse(ISSUER, `${self}/claims`);

async function answerReview(req, res) {
  let body = '';
  for await (const chunk of req) {
    if ((body += chunk).length > 16_384) return void res.writeHead(413).end();
  }
  try {
    const answer = await review(req.headers.authorization, body);
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  } catch (error) {
    console.error(`board: a claims review was refused: ${error.message}`);
    res.writeHead(403).end();
  }
}

async function serve(req, res) {
  const path = new URL(req.url, self).pathname;
  if (path === '/claims' && req.method === 'POST') return answerReview(req, res);
  const headers = {
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
  if (path === '/') {
    return void res
      .writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' })
      .end(page);
  }
  const file = fileOf(path);
  const type = file?.endsWith('.css') ? 'text/css' : 'text/javascript';
  res
    .writeHead(file ? 200 : 404, { ...headers, 'Content-Type': file ? type : 'text/plain' })
    .end(file && (await readFile(file)));
}

createServer((req, res) => {
  serve(req, res).catch((error) => {
    console.error(`board: ${error.message}`);
    if (!res.headersSent) res.writeHead(404);
    res.end();
  });
}).listen(Number(PORT), '127.0.0.1', () => console.log(`board ${self}`));
