import type { IdToken, Provider, Token } from 'oidc-provider';

/**
 * Makes oidc-provider bind an ID token to the access token that it is sent with, by `at_hash` (OpenID
 * Connect Core §3.1.3.6), which some libraries require.
 */
export function hashAccessTokens(provider: Provider): void {
  const values = new WeakMap<Token, string>();
  const { save } = provider.AccessToken.prototype;
  provider.AccessToken.prototype.save = async function remembered(this: Token) {
    const value = await save.call(this);
    values.set(this, value);
    return value;
  };
  const { payload } = provider.IdToken.prototype;
  provider.IdToken.prototype.payload = async function hashed(this: IdToken) {
    const { AccessToken } = this.ctx?.oidc.entities ?? {};
    const value = AccessToken && values.get(AccessToken);
    // oidc-provider hashes it with the hash of the signature algorithm.
    if (value !== undefined) this.set('at_hash', value);
    return payload.call(this);
  };
}
