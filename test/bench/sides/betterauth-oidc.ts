import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { client } from '../flow.js';
import { Delivery } from './delivery.js';
import { sendJSON, sendPage } from './http.js';

/**
 * better-auth as an OpenID provider on node:sqlite: durable, its lookup columns indexed, codes by
 * mail and stored hashed, no limits; its own pages are static files here.
 */
const find = createRequire(join(process.env.MODULES!, 'x.js'));
const load = (name: string): Promise<any> => import(pathToFileURL(find.resolve(name)).href);
const [
  { betterAuth },
  { emailOTP, jwt },
  { oauthProvider },
  { toNodeHandler },
  { getMigrations },
  { DatabaseSync },
] = await Promise.all([
  load('better-auth'),
  load('better-auth/plugins'),
  load('@better-auth/oauth-provider'),
  load('better-auth/node'),
  load('better-auth/db/migration'),
  import('node:sqlite' as string),
]);

const database = new DatabaseSync(join(process.env.FOLDER!, 'peer.sqlite'));
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
const port = Number(process.env.PORT);
const delivery = new Delivery();
const auth = betterAuth({
  baseURL: `http://localhost:${port}`,
  secret: 'a secret of the bench, long enough',
  database,
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  disabledPaths: ['/token'],
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'RS256', modulusLength: 3072 } } }),
    emailOTP({
      storeOTP: 'hashed',
      sendVerificationOTP: async ({ email, otp }: { email: string; otp: string }) =>
        delivery.send(email, otp),
    }),
    oauthProvider({
      loginPage: '/sign-in',
      consentPage: '/consent',
      scopes: client.scope.split(' '),
      allowPublicClientPrelogin: true,
      cachedTrustedClients: new Set([client.name]),
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
});
await (await getMigrations(auth.options)).runMigrations();
for (const [table, column] of [
  ['user', 'email'],
  ['session', 'token'],
  ['session', 'userId'],
  ['verification', 'identifier'],
  ['account', 'userId'],
  ['oauthConsent', 'userId'],
  ['oauthClient', 'clientId'],
  ['oauthAccessToken', 'token'],
]) {
  database.exec(
    `CREATE INDEX IF NOT EXISTS "bench_${table}_${column}" ON "${table}" ("${column}")`,
  );
}
if (database.prepare('SELECT count(*) AS count FROM "oauthClient"').get().count === 0) {
  await (await auth.$context).adapter.create({
    model: 'oauthClient',
    data: {
      clientId: client.name,
      name: 'The bench',
      redirectUris: [client.redirectURI],
      scopes: client.scope.split(' '),
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code'],
      responseTypes: ['code'],
      requirePKCE: true,
    },
  });
}
const handle = toNodeHandler(auth);
const server = createServer((request, response) => {
  const path = request.url!.split('?')[0];
  if (delivery.answer(request, response)) return;
  if (path === '/sign-in' || path === '/consent') {
    sendPage(response);
  } else if (path === '/.well-known/openid-configuration') {
    auth.api.getOpenIdConfig().then((found: object) => sendJSON(response, found));
  } else {
    void handle(request, response);
  }
});
server.keepAliveTimeout = 65_000;
server.listen(port, '127.0.0.1');
