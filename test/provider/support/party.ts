import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import type { ClientSpec } from '../../../kinds/apps/client/client.js';
import { mailTo, proceed } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, type TestService } from '../../support/service.js';

const redirectURI = 'https://app.example.test/callback';
const insecure = { [oauth.allowInsecureRequests]: true };

/** What a Client keeps of an authorization request until the answer comes. */
export interface Request {
  readonly url: URL;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** How a Client authenticates, and what of that its Client object says. */
export interface Credentials {
  readonly auth: oauth.ClientAuth;
  readonly spec: Partial<ClientSpec>;
}

/** Credentials of each sort. */
export const credentials = {
  none: (): Credentials => ({ auth: oauth.None(), spec: { type: 'Public' } }),
  basic: (secret: string): Credentials => ({
    auth: oauth.ClientSecretBasic(secret),
    spec: { type: 'Confidential', secretHashes: [hashed(secret)] },
  }),
  post: (secret: string): Credentials => ({
    auth: oauth.ClientSecretPost(secret),
    spec: {
      type: 'Confidential',
      tokenEndpointAuthMethod: 'client_secret_post',
      secretHashes: [hashed(secret)],
    },
  }),
  async key(): Promise<Credentials> {
    const { privateKey, publicKey } = await oauth.generateKeyPair('ES256', { extractable: true });
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
    return {
      auth: oauth.PrivateKeyJwt(privateKey),
      spec: {
        type: 'Confidential',
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: { keys: [{ kty: kty!, crv: crv!, x: x!, y: y!, alg: 'ES256', use: 'sig' }] },
      },
    };
  },
};

const hashed = (secret: string): string =>
  `sha256:${createHash('sha256').update(secret).digest('hex')}`;

/** A relying party built with oauth4webapi, at the whole service. */
export class Party {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly #service: TestService;
  readonly #auth: oauth.ClientAuth;

  private constructor(
    service: TestService,
    server: oauth.AuthorizationServer,
    client: oauth.Client,
    auth: oauth.ClientAuth,
  ) {
    this.#service = service;
    this.server = server;
    this.client = client;
    this.#auth = auth;
  }

  /** Declares the Client and discovers the service. */
  static async of(
    service: TestService,
    name: string,
    { auth, spec }: Credentials,
    more: Partial<ClientSpec> = {},
  ): Promise<Party> {
    const all: Partial<ClientSpec> = {
      postLogoutRedirectURIs: ['https://app.example.test/bye'],
      grantTypes: ['authorization_code', 'refresh_token'],
      ...spec,
      ...more,
    };
    await createClient(service, name, all);
    return Party.discover(service, name, auth, more);
  }

  /** Discovers the service for a Client that exists. */
  static async discover(
    service: TestService,
    name: string,
    auth: oauth.ClientAuth,
    more: Partial<ClientSpec> = {},
  ): Promise<Party> {
    const issuer = new URL(service.baseURL);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, insecure),
    );
    return new Party(
      service,
      server,
      {
        client_id: name,
        id_token_signed_response_alg:
          more.idTokenSignedResponseAlg ?? (more.profile === 'FAPI2' ? 'ES256' : 'RS256'),
      },
      auth,
    );
  }

  /** An authorization request with all that protects it. */
  async request(scope: string, parameters: Record<string, string> = {}): Promise<Request> {
    const [verifier, state, nonce] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomState(),
      oauth.generateRandomNonce(),
    ];
    const url = new URL(this.server.authorization_endpoint!);
    const query = {
      client_id: this.client.client_id,
      response_type: 'code',
      redirect_uri: redirectURI,
      scope,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...parameters,
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url, verifier, state, nonce };
  }

  /**
   * Sends a person through it, by emailed code where no one is signed in; where the browser came
   * back to.
   */
  async send(tab: Tab, { url }: Request, address: string): Promise<URL> {
    const { headers } = await tab.navigate(url.pathname + url.search).is(303);
    const to = headers.location!;
    if (!to.startsWith('/api/')) return new URL(to);
    const { body } = await tab.get(to).is(200);
    if (body.status.phase !== 'LoginRequired') {
      const agreed = await tab
        .post(`${to}/consent`, { spec: { scopes: body.spec.scopes } })
        .is(200);
      return new URL((await tab.navigate(agreed.body.status.returnTo).is(303)).headers.location!);
    }
    await tab.post(`${to}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(this.#service, address);
    await this.#service.tab().delete('mockmessages').is(200);
    const entered = await tab.post(`${to}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    return proceed(tab, entered.body.status.returnTo);
  }

  /** Redeems what came back; the ID token is verified, its signature too. */
  async redeem(
    back: URL,
    { verifier, state, nonce }: Request,
  ): Promise<oauth.TokenEndpointResponse> {
    const parameters = oauth.validateAuthResponse(this.server, this.client, back, state);
    const response = await oauth.authorizationCodeGrantRequest(
      this.server,
      this.client,
      this.#auth,
      parameters,
      redirectURI,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(
      this.server,
      this.client,
      response,
      { expectedNonce: nonce, requireIdToken: true },
    );
    await oauth.validateApplicationLevelSignature(this.server, response, insecure);
    return tokens;
  }

  /** A whole sign-in, to the tokens. */
  async signIn(
    tab: Tab,
    address: string,
    scope = 'openid email',
    parameters: Record<string, string> = {},
  ): Promise<oauth.TokenEndpointResponse> {
    const request = await this.request(scope, parameters);
    return this.redeem(await this.send(tab, request, address), request);
  }

  /** New tokens for a refresh token. */
  async refresh(token: string): Promise<oauth.TokenEndpointResponse> {
    const response = await oauth.refreshTokenGrantRequest(
      this.server,
      this.client,
      this.#auth,
      token,
      insecure,
    );
    const tokens = await oauth.processRefreshTokenResponse(this.server, this.client, response);
    if (tokens.id_token) {
      await oauth.validateApplicationLevelSignature(this.server, response, insecure);
    }
    return tokens;
  }

  async userinfo(token: string, subject: string): Promise<oauth.UserInfoResponse> {
    return oauth.processUserInfoResponse(
      this.server,
      this.client,
      subject,
      await oauth.userInfoRequest(this.server, this.client, token, insecure),
    );
  }

  async revoke(token: string): Promise<void> {
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(this.server, this.client, this.#auth, token, insecure),
    );
  }

  async introspect(token: string): Promise<oauth.IntrospectionResponse> {
    return oauth.processIntrospectionResponse(
      this.server,
      this.client,
      await oauth.introspectionRequest(this.server, this.client, this.#auth, token, insecure),
    );
  }
}

/** The OAuth error of a call that must fail. */
export async function errorOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    const {
      error: code,
      cause,
      message,
    } = error as { error?: string; cause?: { parameters?: { error?: string } }[]; message: string };
    return code ?? cause?.[0]?.parameters?.error ?? message;
  }
  throw new Error('it did not fail');
}
