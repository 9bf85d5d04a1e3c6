import * as oidc from 'openid-client';
import type { Browser } from './browser.js';
import { type House, secretOf } from './fixture.js';

/** A relying party built with openid-client. */
export class RelyingParty {
  readonly house: House;
  readonly config: oidc.Configuration;
  readonly redirectURI: string;

  constructor(house: House, config: oidc.Configuration) {
    this.house = house;
    this.config = config;
    this.redirectURI = 'https://rp.example.test/cb';
  }

  static async of(
    house: House,
    name: string,
    options: {
      public?: boolean;
      auth?: oidc.ClientAuth;
      metadata?: Partial<oidc.ClientMetadata>;
    } = {},
  ): Promise<RelyingParty> {
    const auth =
      options.auth ?? (options.public ? oidc.None() : oidc.ClientSecretBasic(secretOf(name)));
    const config = await oidc.discovery(new URL(house.baseURL), name, options.metadata, auth, {
      execute: [oidc.allowInsecureRequests],
    });
    return new RelyingParty(house, config);
  }

  /** An authorization request with all that protects it. */
  async begin(
    parameters: Record<string, string> = {},
  ): Promise<{ url: URL; verifier: string; state: string; nonce: string }> {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const nonce = oidc.randomNonce();
    const url = oidc.buildAuthorizationUrl(this.config, {
      redirect_uri: this.redirectURI,
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...parameters,
    });
    return { url, verifier, state, nonce };
  }

  /** Redeems what came back to the Client. */
  redeem(
    location: URL,
    begun: { verifier: string; state: string; nonce: string },
    options?: oidc.AuthorizationCodeGrantOptions,
  ): ReturnType<typeof oidc.authorizationCodeGrant> {
    return oidc.authorizationCodeGrant(
      this.config,
      location,
      {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        idTokenExpected: begun.nonce !== undefined,
      },
      undefined,
      options,
    );
  }

  /** A whole sign-in in a browser, to the tokens. */
  async signIn(
    browser: Browser,
    person: Parameters<Browser['authorize']>[1],
    parameters: Record<string, string> = {},
  ): Promise<Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>> {
    const begun = await this.begin(parameters);
    const back = await browser.authorize(begun.url, person);
    if (!back.location) {
      throw new Error(`no way back: ${back.status} ${back.url.pathname} ${back.text}`);
    }
    return this.redeem(back.location, begun);
  }
}

/** Answer and error of a call that may fail at the OAuth level. */
export async function outcome<T>(work: Promise<T>): Promise<{ value?: T; error?: string }> {
  try {
    return { value: await work };
  } catch (error) {
    return {
      error:
        (error as { error?: string; code?: string }).error ??
        (error as { code?: string }).code ??
        String(error),
    };
  }
}
