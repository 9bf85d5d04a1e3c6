/** What oidc-provider 9 keeps in the store, and how. */
declare module 'oidc-provider' {
  /** The data of an object as adapters store it; unknown fields must be preserved. */
  export interface AdapterPayload {
    [field: string]: unknown;
    jti?: string;
    uid?: string;
    iat?: number;
    exp?: number;
    accountId?: string;
    clientId?: string;
    grantId?: string;
    userCode?: string;
    consumed?: unknown;
    loginTs?: number;
    acr?: string;
    amr?: string[];
    cid?: string;
    result?: InteractionResults;
    authorizations?: Record<string, ClientAuthorization>;
  }

  /** The data of a session. */
  export interface SessionPayload extends AdapterPayload {
    uid: string;
    exp: number;
  }

  /** The data of a session in which a person has signed in. */
  export interface SignedInPayload extends SessionPayload {
    accountId: string;
    loginTs: number;
  }

  /** The data of a grant. */
  export interface GrantPayload extends AdapterPayload {
    accountId: string;
    clientId: string;
  }

  /** The data of one client in a session. */
  export interface ClientAuthorization {
    sid?: string;
    grantId?: string;
    persistsLogout?: boolean;
  }

  export interface Adapter {
    upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void>;
    find(id: string): Promise<AdapterPayload | undefined>;
    findByUserCode(userCode: string): Promise<AdapterPayload | undefined>;
    findByUid(uid: string): Promise<AdapterPayload | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface InteractionResults {
    login?: {
      accountId: string;
      acr?: string;
      amr?: string[];
      ts?: number;
      remember?: boolean;
      /** Added by this service: the sign-in method. */
      method?: string;
    };
    consent?: { grantId?: string };
    error?: string;
    error_description?: string;
  }
}
