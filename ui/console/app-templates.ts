/** What a program needs to sign people in with this service. */
export interface AppTemplate {
  /** The part of the address of its form, and the `client_id` that is suggested. */
  readonly id: string;
  readonly name: string;
  /** What follows the address of the app in its redirect URIs. */
  readonly paths: readonly string[];
  /** Redirect URIs at another address, such as those of its command. */
  readonly otherRedirectURIs?: readonly string[];
  /** What follows the address of the app in its redirect URI after a sign-out. */
  readonly signOutPath?: string;
  /** A program that can keep no secret. */
  readonly isPublic?: boolean;
  /** It sends the secret in the body, not in the header. */
  readonly postsSecret?: boolean;
  /** It sends PKCE whenever it is set as `settings` says. */
  readonly hasPKCE?: boolean;
  /** It verifies RS256 only, or no one made sure that it verifies ES256. */
  readonly needsRS256?: boolean;
  /** The claims that it reads from the ID token. */
  readonly idTokenClaims?: readonly string[];
  /** Scopes besides `openid`, `email` and `profile`. */
  readonly scopes?: readonly string[];
  /** Where the settings belong: a file, a command or a page of the program. */
  readonly target: string;
  /** The settings. `<issuer>`, `<client-id>`, `<client-secret>` and `<address>` are filled in. */
  readonly settings: string;
}

const gitea: AppTemplate = {
  id: 'gitea',
  name: 'Gitea',
  paths: ['/user/oauth2/vestibule/callback'],
  needsRS256: true,
  target: 'gitea',
  settings: `gitea admin auth add-oauth --name vestibule --provider openidConnect \\
  --key '<client-id>' --secret '<client-secret>' \\
  --auto-discover-url '<issuer>/.well-known/openid-configuration' \\
  --scopes email --scopes profile`,
};

const forgejo: AppTemplate = {
  ...gitea,
  id: 'forgejo',
  name: 'Forgejo',
  target: 'forgejo',
  settings: gitea.settings.replace('gitea', 'forgejo'),
};

/** The programs that the console knows, in the order of their names. */
export const appTemplates: readonly AppTemplate[] = [
  {
    id: 'argo-cd',
    name: 'Argo CD',
    paths: ['/auth/callback'],
    otherRedirectURIs: ['http://localhost:8085/auth/callback'],
    signOutPath: '/',
    isPublic: true,
    hasPKCE: true,
    idTokenClaims: ['email', 'groups', 'name'],
    scopes: ['groups', 'offline_access'],
    target: 'ConfigMap argocd-cm',
    settings: `data:
  url: <address>
  oidc.config: |
    name: Vestibule
    issuer: <issuer>
    clientID: <client-id>
    enablePKCEAuthentication: true
    requestedScopes: [openid, profile, email, groups]
    logoutURL: <issuer>/oauth2/logout?id_token_hint={{token}}&post_logout_redirect_uri={{logoutRedirectURL}}`,
  },
  forgejo,
  gitea,
  {
    id: 'gitlab',
    name: 'GitLab',
    paths: ['/users/auth/openid_connect/callback'],
    hasPKCE: true,
    needsRS256: true,
    target: '/etc/gitlab/gitlab.rb',
    settings: `gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "Vestibule",
    args: {
      name: "openid_connect",
      scope: ["openid", "profile", "email"],
      response_type: "code",
      issuer: "<issuer>",
      discovery: true,
      client_auth_method: "basic",
      uid_field: "sub",
      pkce: true,
      client_options: {
        identifier: "<client-id>",
        secret: "<client-secret>",
        redirect_uri: "<address>/users/auth/openid_connect/callback"
      }
    }
  }
]`,
  },
  {
    id: 'grafana',
    name: 'Grafana',
    paths: ['/login/generic_oauth'],
    signOutPath: '/login',
    hasPKCE: true,
    scopes: ['groups'],
    target: 'grafana.ini',
    settings: `[auth.generic_oauth]
enabled = true
name = Vestibule
client_id = <client-id>
client_secret = <client-secret>
scopes = openid email profile groups
auth_url = <issuer>/oauth2/auth
token_url = <issuer>/oauth2/token
api_url = <issuer>/oauth2/userinfo
use_pkce = true
login_attribute_path = email
name_attribute_path = name
groups_attribute_path = groups
role_attribute_path = contains(groups[*], 'grafana-admins') && 'Admin' || 'Viewer'`,
  },
  {
    id: 'harbor',
    name: 'Harbor',
    paths: ['/c/oidc/callback'],
    needsRS256: true,
    scopes: ['groups'],
    target: 'PUT /api/v2.0/configurations',
    settings: `{
  "auth_mode": "oidc_auth",
  "oidc_name": "Vestibule",
  "oidc_endpoint": "<issuer>",
  "oidc_client_id": "<client-id>",
  "oidc_client_secret": "<client-secret>",
  "oidc_scope": "openid,email,profile,groups",
  "oidc_groups_claim": "groups",
  "oidc_user_claim": "email",
  "oidc_verify_cert": true,
  "oidc_auto_onboard": true
}`,
  },
  {
    id: 'hedgedoc',
    name: 'HedgeDoc',
    paths: ['/auth/oauth2/callback'],
    postsSecret: true,
    needsRS256: true,
    target: 'environment',
    settings: `CMD_OAUTH2_PROVIDERNAME=Vestibule
CMD_OAUTH2_CLIENT_ID=<client-id>
CMD_OAUTH2_CLIENT_SECRET=<client-secret>
CMD_OAUTH2_SCOPE=openid email profile
CMD_OAUTH2_AUTHORIZATION_URL=<issuer>/oauth2/auth
CMD_OAUTH2_TOKEN_URL=<issuer>/oauth2/token
CMD_OAUTH2_USER_PROFILE_URL=<issuer>/oauth2/userinfo
CMD_OAUTH2_USER_PROFILE_USERNAME_ATTR=sub
CMD_OAUTH2_USER_PROFILE_DISPLAY_NAME_ATTR=name
CMD_OAUTH2_USER_PROFILE_EMAIL_ATTR=email`,
  },
  {
    id: 'immich',
    name: 'Immich',
    paths: ['/auth/login', '/user-settings', '/api/oauth/mobile-redirect'],
    postsSecret: true,
    needsRS256: true,
    target: 'immich.json',
    settings: `{
  "oauth": {
    "enabled": true,
    "buttonText": "Vestibule",
    "issuerUrl": "<issuer>",
    "clientId": "<client-id>",
    "clientSecret": "<client-secret>",
    "scope": "openid email profile",
    "signingAlgorithm": "RS256",
    "tokenEndpointAuthMethod": "client_secret_post",
    "mobileOverrideEnabled": true,
    "mobileRedirectUri": "<address>/api/oauth/mobile-redirect"
  }
}`,
  },
  {
    id: 'jellyfin',
    name: 'Jellyfin',
    paths: ['/sso/OID/redirect/vestibule', '/sso/OID/r/vestibule'],
    postsSecret: true,
    needsRS256: true,
    target: 'SSO-Auth',
    settings: `Name of OpenID Provider: vestibule
OpenID Endpoint: <issuer>
OpenID Client ID: <client-id>
OpenID Client Secret: <client-secret>
Enabled: yes
Request Additional Scopes: email profile`,
  },
  {
    id: 'mattermost',
    name: 'Mattermost',
    paths: ['/signup/openid/complete'],
    postsSecret: true,
    needsRS256: true,
    target: 'environment',
    settings: `MM_OPENIDSETTINGS_ENABLE=true
MM_OPENIDSETTINGS_ID=<client-id>
MM_OPENIDSETTINGS_SECRET=<client-secret>
MM_OPENIDSETTINGS_DISCOVERYENDPOINT=<issuer>/.well-known/openid-configuration
MM_OPENIDSETTINGS_SCOPE=profile openid email
MM_OPENIDSETTINGS_BUTTONTEXT=Vestibule`,
  },
  {
    id: 'miniflux',
    name: 'Miniflux',
    paths: ['/oauth2/oidc/callback'],
    needsRS256: true,
    target: 'environment',
    settings: `OAUTH2_PROVIDER=oidc
OAUTH2_OIDC_PROVIDER_NAME=Vestibule
OAUTH2_OIDC_DISCOVERY_ENDPOINT=<issuer>
OAUTH2_CLIENT_ID=<client-id>
OAUTH2_CLIENT_SECRET=<client-secret>
OAUTH2_REDIRECT_URL=<address>/oauth2/oidc/callback
OAUTH2_USER_CREATION=1`,
  },
  {
    id: 'nextcloud',
    name: 'Nextcloud',
    paths: ['/apps/user_oidc/code'],
    signOutPath: '/',
    needsRS256: true,
    idTokenClaims: ['email', 'name'],
    target: 'user_oidc (occ)',
    settings: `php occ user_oidc:provider Vestibule \\
  --clientid='<client-id>' --clientsecret='<client-secret>' \\
  --discoveryuri='<issuer>/.well-known/openid-configuration' \\
  --scope='openid email profile' --mapping-uid=sub --mapping-email=email --mapping-display-name=name`,
  },
  {
    id: 'oauth2-proxy',
    name: 'OAuth2 Proxy',
    paths: ['/oauth2/callback'],
    hasPKCE: true,
    scopes: ['groups'],
    target: 'oauth2-proxy.cfg',
    settings: `provider = "oidc"
provider_display_name = "Vestibule"
oidc_issuer_url = "<issuer>"
client_id = "<client-id>"
client_secret = "<client-secret>"
redirect_url = "<address>/oauth2/callback"
code_challenge_method = "S256"
scope = "openid email profile groups"
oidc_groups_claim = "groups"
email_domains = ["*"]
cookie_expire = "1h"
skip_provider_button = true`,
  },
  {
    id: 'open-webui',
    name: 'Open WebUI',
    paths: ['/oauth/oidc/callback'],
    needsRS256: true,
    target: 'environment',
    settings: `WEBUI_URL=<address>
ENABLE_OAUTH_SIGNUP=true
OAUTH_PROVIDER_NAME=Vestibule
OPENID_PROVIDER_URL=<issuer>/.well-known/openid-configuration
OPENID_REDIRECT_URI=<address>/oauth/oidc/callback
OAUTH_CLIENT_ID=<client-id>
OAUTH_CLIENT_SECRET=<client-secret>
OAUTH_SCOPES=openid email profile`,
  },
  {
    id: 'outline',
    name: 'Outline',
    paths: ['/auth/oidc.callback'],
    postsSecret: true,
    needsRS256: true,
    target: 'environment',
    settings: `URL=<address>
OIDC_CLIENT_ID=<client-id>
OIDC_CLIENT_SECRET=<client-secret>
OIDC_AUTH_URI=<issuer>/oauth2/auth
OIDC_TOKEN_URI=<issuer>/oauth2/token
OIDC_USERINFO_URI=<issuer>/oauth2/userinfo
OIDC_LOGOUT_URI=<issuer>/oauth2/logout
OIDC_USERNAME_CLAIM=email
OIDC_DISPLAY_NAME=Vestibule
OIDC_SCOPES=openid profile email`,
  },
  {
    id: 'paperless-ngx',
    name: 'Paperless-ngx',
    paths: ['/accounts/oidc/vestibule/login/callback/'],
    hasPKCE: true,
    needsRS256: true,
    target: 'environment',
    settings: `PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS={"openid_connect": {"OAUTH_PKCE_ENABLED": true, "SCOPE": ["openid", "profile", "email"], "APPS": [{"provider_id": "vestibule", "name": "Vestibule", "client_id": "<client-id>", "secret": "<client-secret>", "settings": {"server_url": "<issuer>", "token_auth_method": "client_secret_basic"}}]}}`,
  },
  {
    id: 'portainer',
    name: 'Portainer',
    paths: [''],
    needsRS256: true,
    target: 'OAuth',
    settings: `Client ID: <client-id>
Client secret: <client-secret>
Authorization URL: <issuer>/oauth2/auth
Access token URL: <issuer>/oauth2/token
Resource URL: <issuer>/oauth2/userinfo
Redirect URL: <address>
User identifier: email
Scopes: openid email profile`,
  },
  {
    id: 'proxmox-ve',
    name: 'Proxmox VE',
    paths: [''],
    needsRS256: true,
    idTokenClaims: ['email'],
    target: 'pveum',
    settings: `pveum realm add vestibule --type openid \\
  --issuer-url '<issuer>' --client-id '<client-id>' --client-key '<client-secret>' \\
  --username-claim email --autocreate 1`,
  },
  {
    id: 'rancher',
    name: 'Rancher',
    paths: ['/verify-auth'],
    needsRS256: true,
    scopes: ['groups'],
    target: 'Generic OIDC',
    settings: `Client ID: <client-id>
Client Secret: <client-secret>
Rancher URL: <address>/verify-auth
Issuer: <issuer>
Auth Endpoint: <issuer>/oauth2/auth
Scopes: openid profile email groups`,
  },
  {
    id: 'vault',
    name: 'Vault',
    paths: ['/ui/vault/auth/oidc/oidc/callback'],
    otherRedirectURIs: ['http://localhost:8250/oidc/callback'],
    needsRS256: true,
    idTokenClaims: ['email'],
    target: 'vault',
    settings: `vault auth enable oidc
vault write auth/oidc/config default_role=default \\
  oidc_discovery_url='<issuer>' oidc_client_id='<client-id>' oidc_client_secret='<client-secret>'
vault write auth/oidc/role/default user_claim=email oidc_scopes=email,profile \\
  allowed_redirect_uris='<address>/ui/vault/auth/oidc/oidc/callback' \\
  allowed_redirect_uris=http://localhost:8250/oidc/callback`,
  },
  {
    id: 'vaultwarden',
    name: 'Vaultwarden',
    paths: ['/identity/connect/oidc-signin'],
    hasPKCE: true,
    needsRS256: true,
    idTokenClaims: ['email', 'email_verified', 'name'],
    target: 'environment',
    settings: `DOMAIN=<address>
SSO_ENABLED=true
SSO_AUTHORITY=<issuer>
SSO_CLIENT_ID=<client-id>
SSO_CLIENT_SECRET=<client-secret>
SSO_SCOPES=email profile
SSO_PKCE=true`,
  },
];

/** Any other program, whose redirect URI is typed. */
export const otherApp: AppTemplate = {
  id: 'other',
  name: '',
  paths: [''],
  target: 'OpenID Connect',
  settings: `Issuer: <issuer>
Discovery: <issuer>/.well-known/openid-configuration
Client ID: <client-id>
Client secret: <client-secret>
Redirect URI: <address>
Scopes: openid email profile
PKCE: S256`,
};
