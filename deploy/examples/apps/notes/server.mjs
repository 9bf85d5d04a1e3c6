import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { claimsTable, html, page, raw } from './page.mjs';

const {
  ISSUER = 'http://localhost:8080',
  CLIENT_ID = 'notes',
  CLIENT_SECRET,
  PORT = '8090',
} = process.env;
const self = process.env.SELF ?? `http://localhost:${PORT}`;
const scope = process.env.SCOPE ?? 'openid profile email offline_access';

/** The provider's metadata, fetched once. */
const config = await oidc.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  { client_secret: CLIENT_SECRET },
  undefined,
  { execute: ISSUER.startsWith('http:') ? [oidc.allowInsecureRequests] : [] },
);
const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri));

/** Sessions of this sample by cookie: verified claims, tokens and notes. */
const sessions = new Map();
/** Sign-ins in progress by state. */
const pending = new Map();

const cookieOf = (req) => /(?:^|;\s*)notes=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1];
const send = (res, status, body, headers = {}) =>
  res
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      ...headers,
    })
    .end(body);
const go = (res, to, headers = {}) =>
  res.writeHead(303, { Location: to, 'Cache-Control': 'no-store', ...headers }).end();
const bodyOf = async (req) => {
  let text = '';
  for await (const chunk of req) {
    text += chunk;
    if (text.length > 16_384) throw new Error('too large');
  }
  return new URLSearchParams(text);
};

/** Begins a sign-in: authorization code with PKCE, state and nonce. */
async function signIn(res, prompt) {
  const verifier = oidc.randomPKCECodeVerifier();
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
  if (pending.size > 1000) pending.clear();
  pending.set(state, { verifier, nonce });
  const to = oidc.buildAuthorizationUrl(config, {
    redirect_uri: `${self}/callback`,
    scope,
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(prompt && { prompt }),
  });
  go(res, to.href);
}

/** Completes a sign-in: redeems the code, verifies the ID token and fetches userinfo. */
async function callback(url, res) {
  const state = url.searchParams.get('state');
  const begun = pending.get(state);
  if (!begun) {
    return send(
      res,
      400,
      page(
        'Not begun here',
        html`<p>This sign-in was not started here, or it has expired.</p><a class="button" href="/">Start again</a>`,
      ),
    );
  }
  pending.delete(state);
  if (url.searchParams.get('error')) {
    return send(
      res,
      200,
      page(
        'Not signed in',
        html`<h2>You are not signed in</h2><p>The sign-in ended with <code>${url.searchParams.get('error')}</code>.</p><a class="button" href="/">Back</a>`,
      ),
    );
  }
  const tokens = await oidc.authorizationCodeGrant(config, url, {
    pkceCodeVerifier: begun.verifier,
    expectedState: state,
    expectedNonce: begun.nonce,
  });
  const claims = tokens.claims();
  const id = randomBytes(24).toString('base64url');
  sessions.set(id, {
    claims,
    tokens,
    userinfo: await oidc.fetchUserInfo(config, tokens.access_token, claims.sub),
    notes: [],
  });
  go(res, '/', { 'Set-Cookie': `notes=${id}; HttpOnly; SameSite=Lax; Path=/` });
}

function home(res, session) {
  if (!session) {
    return send(
      res,
      200,
      page(
        'Notes',
        html`<h2>Keep your notes</h2><p>Sign in to see them.</p><a class="button primary" href="/login">Sign in</a>`,
      ),
    );
  }
  const { claims, userinfo, tokens, notes } = session;
  send(
    res,
    200,
    page(
      'Notes',
      html`<h2>Hello ${userinfo.name ?? userinfo.email ?? claims.sub}</h2>
    <ul>${raw(notes.map((note) => html`<li>${note}</li>`).join(''))}</ul><form method="post" action="/notes"><label>New note<textarea name="note" rows="2" required></textarea></label><button class="primary">Keep</button></form>
    <h3>Verified ID token</h3>${raw(claimsTable(claims))}<h3>Userinfo</h3>${raw(claimsTable(userinfo))}
    <h3>Tokens</h3>${raw(claimsTable({ scope: tokens.scope, 'access token': 'received', 'refresh token': tokens.refresh_token ? 'received' : 'none', refreshed: session.refreshed ?? 'not yet' }))}
    ${raw(tokens.refresh_token ? html`<form method="post" action="/refresh"><button>Refresh the tokens</button></form>` : '')}`,
      userinfo.name ?? userinfo.email ?? '',
    ),
  );
}

async function refresh(res, session) {
  try {
    session.tokens = {
      ...session.tokens,
      ...(await oidc.refreshTokenGrant(config, session.tokens.refresh_token)),
    };
    session.refreshed = new Date().toISOString();
    session.userinfo = await oidc.fetchUserInfo(
      config,
      session.tokens.access_token,
      session.claims.sub,
    );
    go(res, '/');
  } catch (error) {
    send(
      res,
      200,
      page(
        'Access ended',
        html`<h2>Access has ended</h2><p>The provider answered <code>${error.error ?? error.message}</code>.</p><a class="button" href="/login">Sign in again</a>`,
      ),
    );
  }
}

/** Signs out here and at the provider (OpenID Connect RP-Initiated Logout 1.0). */
function logout(res, id, session) {
  sessions.delete(id);
  const to = session
    ? oidc.buildEndSessionUrl(config, {
        id_token_hint: session.tokens.id_token,
        post_logout_redirect_uri: `${self}/`,
      }).href
    : '/';
  go(res, to, { 'Set-Cookie': 'notes=; Max-Age=0; Path=/' });
}

/** Receives the provider's notice of a sign-out (OpenID Connect Back-Channel Logout 1.0). */
async function backchannelLogout(req, res) {
  const token = (await bodyOf(req)).get('logout_token');
  const { payload } = await jwtVerify(token, keys, {
    issuer: config.serverMetadata().issuer,
    audience: CLIENT_ID,
    typ: 'logout+jwt',
  });
  if (!payload.events?.['http://schemas.openid.net/event/backchannel-logout'] || payload.nonce) {
    throw new Error('not a logout token');
  }
  const ended = [...sessions].filter(([, { claims }]) =>
    claims.sid ? claims.sid === payload.sid : claims.sub === payload.sub,
  );
  for (const [id] of ended) sessions.delete(id);
  console.log(`${payload.sub} signed out at the provider; sessions ended here: ${ended.length}`);
  send(res, 200, '');
}

async function serve(req, res) {
  const url = new URL(req.url, self);
  const id = cookieOf(req);
  const session = sessions.get(id);
  const ours = req.method !== 'POST' || (req.headers.origin ?? self) === self;
  if (url.pathname === '/backchannel-logout' && req.method === 'POST') {
    return backchannelLogout(req, res);
  }
  if (!ours) {
    return send(res, 403, page('Refused', html`<p>This form was sent from another site.</p>`));
  }
  switch (`${req.method} ${url.pathname}`) {
    case 'GET /':
      return home(res, session);
    case 'GET /login':
      return signIn(res, url.searchParams.get('prompt'));
    case 'GET /callback':
      return callback(url, res);
    case 'POST /logout':
      return logout(res, id, session);
    case 'POST /refresh':
      return session ? refresh(res, session) : go(res, '/');
    case 'POST /notes':
      session?.notes.push(String((await bodyOf(req)).get('note')).slice(0, 500));
      return go(res, '/');
    default:
      return send(res, 404, page('Not found', html`<p>This page does not exist.</p>`));
  }
}

createServer((req, res) => {
  serve(req, res).catch((error) => {
    if (res.headersSent) {
      res.destroy();
    } else {
      send(
        res,
        400,
        page(
          'Something went wrong',
          html`<h2>Something went wrong</h2><p>${error.error ?? error.message}</p><a class="button" href="/">Back</a>`,
        ),
      );
    }
  });
}).listen(Number(PORT), '127.0.0.1', () => console.log(`notes ${self}`));
