import templates from './app-templates.json' with { type: 'json' };

/** What a program needs to sign people in with this service; docs/reference/app-templates.md. */
export interface AppTemplate {
  /** The part of the address of its form, and the `client_id` that is suggested. */
  readonly id: string;
  readonly name: string;
  /** The fields of its Client that are not the same for all; `<address>` is filled in. */
  readonly client: {
    readonly type?: string;
    readonly redirectURIs: readonly string[];
    readonly postLogoutRedirectURIs?: readonly string[];
    backchannelLogoutURI?: string;
    readonly tokenEndpointAuthMethod?: string;
    readonly pkce?: string;
    /** Scopes besides `openid`, `email` and `profile`. */
    readonly scopes?: readonly string[];
  };
  /** Where the settings belong: a file, a command or a page of the program. */
  readonly target: string;
  /**
   * The lines of the settings. `<issuer>`, `<client-id>`, `<client-secret>` and `<address>` are
   * filled in.
   */
  readonly settings: readonly string[];
}

/** The programs that the console and the documentation know, in the order of their names. */
export const appTemplates: readonly AppTemplate[] = templates;

/** Any other program, whose redirect URI is typed. */
export const otherApp: AppTemplate = {
  id: 'other',
  name: '',
  client: { redirectURIs: ['<address>'] },
  target: 'OpenID Connect',
  settings: [
    'Issuer: <issuer>',
    'Discovery: <issuer>/.well-known/openid-configuration',
    'Client ID: <client-id>',
    'Client secret: <client-secret>',
    'Redirect URI: <address>',
    'Scopes: openid email profile',
    'PKCE: S256',
  ],
};
