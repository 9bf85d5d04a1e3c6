import { generateKeyPairSync } from 'node:crypto';
import { client } from '../flow.js';
import type { Records } from './records.js';

/** A configuration of oidc-provider whose state is in `records`, its signing key included. */
export async function configuration(records: Records): Promise<object> {
  return {
    adapter: adapterOn(records),
    clients: [
      {
        client_id: client.name,
        token_endpoint_auth_method: 'none',
        redirect_uris: [client.redirectURI],
        id_token_signed_response_alg: 'RS256',
      },
    ],
    jwks: { keys: [await signingKey(records)] },
    routes: { authorization: '/oauth2/auth', token: '/oauth2/token', jwks: '/oauth2/jwks' },
    cookies: { keys: ['a key of the bench'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    ttl: { Session: 1_209_600, Grant: 1_209_600, Interaction: 3600 },
    findAccount: (_ctx: unknown, name: string) => ({
      accountId: name,
      claims: () => ({ sub: name, email: records.get(`email/${name}`), email_verified: true }),
    }),
    interactions: {
      url: (_ctx: unknown, { uid }: { uid: string }) => `/api/v1beta1/interactions/${uid}`,
    },
    loadExistingGrant: ({ oidc }: any) => {
      const key = `agreed/${oidc.account.accountId}/${oidc.client.clientId}`;
      const known = oidc.result?.consent?.grantId ?? records.get(key);
      return known === undefined ? undefined : oidc.provider.Grant.find(known);
    },
  };
}

async function signingKey(records: Records): Promise<object> {
  const known = records.get('signing-key') as object | undefined;
  if (known) return known;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
  const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'bench' };
  await records.put('signing-key', key);
  return key;
}

/** The durable adapter: what it resolves is flushed to disk, and what is consumed stays so. */
const adapterOn = (records: Records) =>
  class {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    #key(id: string): string {
      return `oidc/${this.#model}/${id}`;
    }

    async upsert(id: string, payload: any): Promise<void> {
      const key = this.#key(id);
      await records.batch(() => {
        void records.put(key, payload);
        if (payload.uid && this.#model === 'Session') void records.put(`uid/${payload.uid}`, id);
        if (payload.grantId) void records.put(`grant/${payload.grantId}/${key}`, true);
      });
    }

    find(id: string): Promise<any> {
      const payload = records.get(this.#key(id));
      return Promise.resolve(payload && payload.exp * 1000 > Date.now() ? payload : undefined);
    }

    findByUid(uid: string): Promise<any> {
      const id = records.get(`uid/${uid}`) as string | undefined;
      return id === undefined ? Promise.resolve(undefined) : this.find(id);
    }

    consume(id: string): Promise<void> {
      return records.transaction(() => {
        const payload = records.get(this.#key(id));
        if (!payload || payload.consumed) throw new Error('used already');
        void records.put(this.#key(id), { ...payload, consumed: Math.floor(Date.now() / 1000) });
      });
    }

    async destroy(id: string): Promise<void> {
      await records.remove(this.#key(id));
    }

    revokeByGrantId(grantId: string): Promise<void> {
      return records.transaction(() => {
        const range = { start: `grant/${grantId}/`, end: `grant/${grantId}0` };
        for (const key of records.getKeys(range)) {
          void records.remove(key.slice(range.start.length));
          void records.remove(key);
        }
      });
    }
  };
