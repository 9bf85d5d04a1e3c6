/**
 * What this service uses of oidc-provider 9; the published types are a package of their own and lag
 * behind.
 */
declare module 'oidc-provider' {
  import type { KeyObject } from 'node:crypto';
  import { EventEmitter } from 'node:events';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Account {
    accountId: string;
    claims(
      use: 'id_token' | 'userinfo',
      scope: string,
    ): Promise<Record<string, unknown> & { sub: string }>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientSecret?: string;
    readonly clientAuthMethod: string;
    readonly applicationType: 'web' | 'native';
    readonly subjectType: 'public' | 'pairwise';
    readonly sectorIdentifier?: string;
    /** Added by this service: the Client's `spec.pkce` and `spec.profile`. */
    readonly pkce?: 'Required' | 'Optional';
    readonly profile?: 'FAPI2';
    /** Added by this service: the Client's `spec.lifetimes`. */
    readonly lifetimes?: { accessToken?: string; idToken?: string; refreshToken?: string };
    /** Added by this service: the Client's `spec.clientAssertionAudience`. */
    readonly clientAssertionAudience?: 'Issuer' | 'TokenEndpoint';
    /** Added by this service: the scopes that it may request. */
    readonly allowedScopes?: string;
    readonly clientName?: string;
    readonly clientUri?: string;
    readonly policyUri?: string;
    readonly tosUri?: string;
    readonly redirectUris: string[];
    readonly postLogoutRedirectUris: string[];
    readonly backchannelLogoutUri?: string;
    grantTypeAllowed(type: string): boolean;
    responseModeAllowed(mode: string, type: string | undefined, profile: unknown): boolean;
    responseTypeAllowed(type: string): boolean;
    redirectUriAllowed(uri: string): boolean;
    postLogoutRedirectUriAllowed(uri: string): boolean;
    compareClientSecret(actual: string): boolean | Promise<boolean>;
    backchannelLogout(sub: string, sid: string): Promise<void>;
  }

  export interface Grant {
    readonly jti: string;
    readonly accountId?: string;
    readonly clientId?: string;
    getOIDCScopeFiltered(filter: Set<string>): string;
    getResourceScope(resource: string): string;
    getResourceScopeFiltered(resource: string, filter: Set<string>): string;
    addOIDCScope(scope: string): void;
    rejectOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    rejectResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface Session {
    readonly uid: string;
    /** Seconds since the epoch; absent until it is first saved. */
    readonly exp?: number;
    readonly accountId?: string;
    readonly loginTs?: number;
    readonly acr?: string;
    state?: { secret: string; clientId?: string; postLogoutRedirectUri?: string };
    grantIdFor(clientId: string): string | undefined;
  }

  export interface Interaction {
    readonly uid: string;
    readonly cid: string;
    readonly returnTo: string;
    readonly grantId?: string;
    /** The id of the device code, if the interaction belongs to one. */
    readonly deviceCode?: string;
    readonly params: Record<string, unknown> & { client_id: string; scope?: string };
    readonly prompt: {
      name: 'login' | 'consent' | 'select_account';
      reasons: string[];
      details: Record<string, unknown>;
    };
    readonly session?: { accountId: string; uid: string };
    readonly result?: InteractionResults;
  }

  /** A resource server that access tokens are for (RFC 8707). */
  export class ResourceServer {
    constructor(
      identifier: string,
      description: {
        scope: string;
        audience?: string;
        /** Seconds. */
        accessTokenTTL?: number;
        accessTokenFormat?: 'opaque' | 'jwt';
        jwt?: { sign: { alg: string } };
      },
    );
    readonly scopes: Set<string>;
    readonly audience?: string;
    readonly accessTokenTTL?: number;
  }

  export interface Token {
    readonly kind: string;
    readonly jti: string;
    readonly accountId?: string;
    readonly clientId: string;
    readonly grantId?: string;
    readonly sessionUid?: string;
    readonly aud?: string;
    readonly scope?: string;
    /** The resources that a code or refresh token was granted. */
    readonly resource?: string | string[];
    /** Of an access token that is being issued. */
    readonly resourceServer?: ResourceServer;
    readonly jkt?: string;
    readonly iiat?: number;
    readonly consumed?: unknown;
    /** How and when the person signed in, of a code or refresh token: acr, seconds since the epoch. */
    readonly acr?: string;
    readonly authTime?: number;
    readonly remainingTTL: number;
    isSenderConstrained(): boolean;
    ttlPercentagePassed(): number;
  }

  interface Model<T> {
    new (properties?: Record<string, unknown>): T;
    find(id: string, options?: { ignoreExpiration?: boolean }): Promise<T | undefined>;
  }

  export interface OIDCContext {
    readonly route: string;
    readonly provider: Provider;
    readonly issuer: string;
    readonly client?: Client;
    readonly account?: Account;
    readonly session?: Session;
    readonly grant?: Grant;
    readonly params?: Record<string, unknown>;
    /** The form of a POST. */
    readonly body?: Record<string, unknown>;
    readonly result?: InteractionResults;
    readonly requestParamOIDCScopes: Set<string>;
    /** All requested scopes, those of resources included. */
    readonly requestParamScopes: Set<string>;
    /** The requested resources by identifier. */
    readonly resourceServers: Readonly<Record<string, ResourceServer>>;
    /** Whether a prompt was requested and has no result yet. */
    promptPending(name: string): boolean;
    readonly entities: {
      Client?: Client;
      Interaction?: Interaction;
      /** A pushed request; `request` is an unsecured JWT of its parameters. */
      PushedAuthorizationRequest?: { readonly request: string };
      AuthorizationCode?: Token;
      RotatedRefreshToken?: Token;
      RefreshToken?: Token;
      AccessToken?: Token;
      DeviceCode?: {
        clientId: string;
        readonly accountId?: string;
        readonly acr?: string;
        readonly authTime?: number;
        readonly scope?: string;
        readonly params: { readonly scope?: string; readonly resource?: string | string[] };
      };
    };
    urlFor(name: string, options?: { query?: Record<string, string> }): string;
  }

  /** The used part of a Koa context. */
  export interface KoaContext {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly method: string;
    readonly originalUrl: string;
    readonly path: string;
    url: string;
    readonly response: { get(field: string): string; is(...types: string[]): string | false };
    readonly oidc?: OIDCContext;
    status: number;
    type: string;
    body: unknown;
    get(field: string): string;
    set(field: string, value: string): void;
    append(field: string, value: string): void;
    remove(field: string): void;
    redirect(url: string): void;
    accepts(...types: string[]): string | false;
  }

  /** A Koa context inside the library's routes, where `oidc` is always present. */
  export type ProviderContext = KoaContext & { readonly oidc: OIDCContext };

  /** The context of a request whose Client the library has found. */
  export type ClientContext = ProviderContext & {
    readonly oidc: { readonly client: Client; readonly params: Record<string, unknown> };
  };

  /** The context of a request of a Client, in a session in which a person has signed in. */
  export type SignedInContext = ClientContext & {
    readonly oidc: { readonly account: Account; readonly session: Session };
  };

  /** The context of a token request whose code or token the library has found. */
  export type TokenContext = ClientContext & {
    readonly oidc: { readonly account: Account; readonly grant: Grant };
  };

  export interface ClientMetadata {
    [field: string]: unknown;
    client_id: string;
  }

  export interface Configuration {
    [setting: string]: unknown;
  }

  /**
   * Claims about one account as they leave for one Client; the subject is the account's name until
   * `result` has replaced it.
   */
  export interface Claims {
    readonly available: Record<string, unknown> & { sub: string };
    readonly client: Client;
    readonly ctx?: ProviderContext;
    result(): Promise<Record<string, unknown>>;
  }

  /** A JWT about an account: an ID token, or a logout token. */
  export interface IdToken {
    readonly available: Record<string, unknown> & { sub: string };
    readonly client: Client;
    readonly extra: Record<string, unknown>;
    readonly ctx?: ProviderContext;
    set(claim: string, value: unknown): void;
    payload(): Promise<Record<string, unknown>>;
  }

  /** A private key that signs outside the library. */
  export class ExternalSigningKey {
    alg: string;
    kid: string;
    keyObject(): KeyObject;
    sign(data: Buffer): Buffer | Promise<Buffer>;
  }

  export class Provider extends EventEmitter {
    constructor(issuer: string, configuration: Configuration);
    proxy: boolean;
    silent: boolean;
    readonly Client: { find(id: string): Promise<Client | undefined>; prototype: Client };
    readonly Claims: { prototype: Claims };
    readonly IdToken: {
      prototype: IdToken;
      /** Throws if the provider did not issue the ID token to the client; it may have expired. */
      validate(jwt: string, client: Client): Promise<unknown>;
    };
    readonly ReplayDetection: { unique(iss: string, jti: string, exp: number): Promise<boolean> };
    readonly Grant: Model<Grant>;
    readonly Session: Model<Session> & {
      prototype: { persist(this: Session): Promise<unknown> };
    };
    readonly AccessToken: Model<Token> & { prototype: { save(this: Token): Promise<string> } };
    use(middleware: (ctx: KoaContext, next: () => Promise<void>) => Promise<void>): this;
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>;
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>;
    interactionResult(
      req: IncomingMessage,
      res: ServerResponse,
      result: InteractionResults,
      options?: { mergeWithLastSubmission?: boolean },
    ): Promise<string>;
    static readonly ctx: ProviderContext | undefined;
  }

  export namespace errors {
    class OIDCProviderError extends Error {
      constructor(status: number, message: string);
      error: string;
      error_description?: string;
      /** The reason, which is not part of the response. */
      error_detail?: string;
      statusCode: number;
      expose: boolean;
    }
    class InvalidDpopProof extends OIDCProviderError {
      constructor(description: string);
    }
    class InvalidGrant extends OIDCProviderError {
      constructor(detail?: string);
    }
    class LoginRequired extends OIDCProviderError {
      constructor(description?: string);
    }
    class InsufficientScope extends OIDCProviderError {
      constructor(description: string, scope: string);
    }
    class InvalidScope extends OIDCProviderError {
      constructor(description: string, scope: string | undefined);
    }
    class InvalidRequest extends OIDCProviderError {
      constructor(description: string, code?: number);
    }
    class UnsupportedResponseType extends OIDCProviderError {
      constructor();
    }
    class InvalidRequestUri extends OIDCProviderError {
      constructor(description?: string);
    }
    class InvalidClient extends OIDCProviderError {
      constructor(description?: string, detail?: string);
    }
    class InvalidClientMetadata extends OIDCProviderError {
      constructor(description: string);
    }
    class InvalidClientAuth extends OIDCProviderError {
      constructor(detail?: string);
    }
    class InvalidTarget extends OIDCProviderError {
      constructor(description?: string);
    }
    class UnmetAuthenticationRequirements extends OIDCProviderError {
      constructor(description?: string);
    }
    class SessionNotFound extends InvalidRequest {}
  }

  export namespace interactionPolicy {
    class Check {
      constructor(
        reason: string,
        description: string,
        error: string,
        check: (ctx: ProviderContext) => boolean | Promise<boolean>,
        details?: (
          ctx: ProviderContext,
        ) => Record<string, unknown> | Promise<Record<string, unknown>>,
      );
    }
    interface Checks {
      add(check: Check, index?: number): void;
      remove(reason: string): void;
    }
    class Prompt {
      constructor(options: { name: string; requestable: boolean }, ...checks: Check[]);
      name: string;
      checks: Checks;
    }
    function base(): Prompt[] & {
      get(name: string): Prompt;
      add(prompt: Prompt, index: number): void;
    };
  }
}
