import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider as Library } from 'oidc-provider';

/**
 * Bare oidc-provider with its memory adapter; an interaction is answered at once. REMEMBER: consent
 * was given before.
 */
const Provider = Library as any;
const remember = process.env.REMEMBER === 'true';
const key = {
  ...generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey.export({ format: 'jwk' }),
  use: 'sig',
  alg: 'RS256',
  kid: 'bench',
};
const [clientName, redirectURI, scope] = [
  'bench',
  'https://app.example.test/callback',
  'openid email',
];

const server = createServer();
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const provider = make(port);
  const callback = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url!.startsWith('/interaction/')) return callback(request, response);
    answer(provider, request, response).catch((error: Error) =>
      response.writeHead(500).end(error.message),
    );
  });
  process.stdout.write(`ready ${port}\n`);
});

function make(port: number): any {
  const provider = new Provider(`http://localhost:${port}`, {
    clients: [
      {
        client_id: clientName,
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectURI],
        id_token_signed_response_alg: 'RS256',
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['a key of the bench'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: true }),
    }),
    interactions: {
      url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}`,
    },
    ...(remember && {
      loadExistingGrant: async (ctx: any) => agreed(provider, ctx.oidc.account.accountId),
    }),
  });
  provider.silent = true;
  return provider;
}

async function agreed(provider: any, accountId: string): Promise<any> {
  const grant = new provider.Grant({ accountId, clientId: clientName });
  grant.addOIDCScope(scope);
  await grant.save();
  return grant;
}

async function answer(
  provider: any,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, {
      login: { accountId: params.login_hint },
    });
  }
  const grant = await agreed(provider, session.accountId);
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId: grant.jti } },
    { mergeWithLastSubmission: true },
  );
}
