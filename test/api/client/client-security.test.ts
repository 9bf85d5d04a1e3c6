import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const keys = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
  ],
};

describe.each(stores)('how a Client is protected, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'root@example.test', '--limit-factor', '100'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'root@example.test')).tab;
  });

  const made = (name: string, spec: object) =>
    operator.post('clients', {
      metadata: { name },
      spec: { displayName: name, redirectURIs: ['https://rp.example.test/cb'], ...spec },
    });

  test('PKCE is required of a Confidential one if its spec says so', async () => {
    const { body: strict } = await made('strict', { pkce: 'Required' }).is(201);
    expect(strict.status.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'NoSecret' },
      { type: 'PKCERequired', status: 'True' },
    ]);
    const { body: lenient } = await operator
      .patch('clients/strict', { spec: { pkce: null } })
      .is(200);
    expect(lenient.status.conditions.slice(1)).toMatchObject([
      {
        type: 'PKCERequired',
        status: 'False',
        reason: 'Optional',
        lastTransitionTime: expect.any(String),
      },
    ]);
    const { body: renamed } = await operator
      .patch('clients/strict', { spec: { displayName: 'renamed' } })
      .is(200);
    expect(renamed.status.conditions).toEqual(lenient.status.conditions);
    const { body: spa } = await made('spa', { type: 'Public' }).is(201);
    expect(spa.status.conditions[1]).toMatchObject({ type: 'PKCERequired', status: 'True' });
    await operator.patch('clients/strict', { spec: { type: 'Public' } }).is(200);
    await made('open', { type: 'Public', pkce: 'Optional' }).fails(422, 'Invalid', 'spec.pkce');
    await made('odd', { pkce: 'Sometimes' }).fails(422, 'Invalid', 'spec.pkce');
  });

  test('profile FAPI2 sets what it asks for, and refuses at its field what it forbids', async () => {
    const { body } = await made('bank', { profile: 'FAPI2', jwks: keys }).is(201);
    expect(body.spec).toMatchObject({
      tokenEndpointAuthMethod: 'private_key_jwt',
      tokenEndpointAuthSigningAlg: 'ES256',
      requirePushedAuthorizationRequests: true,
      dpopBoundAccessTokens: true,
    });
    expect(body.status.conditions[1]).toMatchObject({ type: 'PKCERequired', status: 'True' });
    const forbidden: [string, object][] = [
      ['spec.pkce', { pkce: 'Optional' }],
      ['spec.clientAssertionAudience', { clientAssertionAudience: 'TokenEndpoint' }],
      ['spec.requirePushedAuthorizationRequests', { requirePushedAuthorizationRequests: false }],
      ['spec.dpopBoundAccessTokens', { dpopBoundAccessTokens: false }],
      ['spec.tokenEndpointAuthSigningAlg', { tokenEndpointAuthSigningAlg: 'RS256' }],
      ['spec.tokenEndpointAuthMethod', { tokenEndpointAuthMethod: 'client_secret_basic' }],
      ['spec.idTokenSignedResponseAlg', { idTokenSignedResponseAlg: 'RS256' }],
      ['spec.redirectURIs[0]', { redirectURIs: ['http://localhost:1/cb'] }],
      ['spec.type', { type: 'Public' }],
    ];
    for (const [field, spec] of forbidden) {
      await made('broken', { profile: 'FAPI2', jwks: keys, ...spec }).fails(422, 'Invalid', field);
    }
    await operator
      .patch('clients/bank', { spec: { pkce: 'Optional' } })
      .fails(422, 'Invalid', 'spec.pkce');
  });

  test('an algorithm for assertions needs a Client that signs them', async () => {
    await made('unsigned', { tokenEndpointAuthSigningAlg: 'ES256' }).fails(
      422,
      'Invalid',
      'spec.tokenEndpointAuthSigningAlg',
    );
  });
});
