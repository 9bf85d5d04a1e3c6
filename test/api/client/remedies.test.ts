import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { credentials } from '../../provider/support/party.js';
import {
  createAudience,
  createRequester,
  identifierOf,
  newPerson,
  redeem,
  visit,
} from '../../support/audiences.js';
import { authorizationPath } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const message = 'a request of a Client was refused';
/** A request, and the Client that its refusal names; none if the request names none. */
type Case = readonly [what: string, send: () => PromiseLike<unknown>, client: string | undefined];

describe.each(stores)('what mends a refusal, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    await createClient(service, 'shop', credentials.basic('hush').spec);
    await createAudience(service, 'billing');
    await createRequester(service, 'buyer', ['billing']);
  });

  const post = (
    endpoint: string,
    fields: Record<string, string> | string,
    headers: Record<string, string> = {},
  ) =>
    service.tab().send('POST', `/oauth2/${endpoint}`, {
      plain: true,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const basic = (words: string) => ({ authorization: `Basic ${btoa(words)}` });
  const shop = basic('shop:hush');
  const userinfo = (headers: Record<string, string>, query = '') =>
    service.tab().send('GET', `/oauth2/userinfo${query}`, { plain: true, headers });
  const authorize = (more: Record<string, string>, again = '') =>
    service.tab().navigate(authorizationPath('app', 'openid', 'v'.repeat(43), more) + again);
  const essential = (value: string): string =>
    JSON.stringify({ id_token: { acr: { essential: true, value } } });
  const tokenFor = async () => {
    const back = await visit(await newPerson(service, `m-${store}@example.test`), {
      client: 'buyer',
      audiences: ['billing'],
    });
    return (await redeem(service, back, identifierOf('billing'))).body.access_token as string;
  };
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x' };
  const code = { grant_type: 'authorization_code', code: 'x' };
  const assertion = { ...code, client_id: 'app', client_assertion: 'x' };
  const ofType = {
    ...assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  };
  const named = { client_id: 'app' };

  test.each<Case>([
    ['a parameter that comes twice', () => authorize({}, '&nonce=a&nonce=b'), 'app'],
    ['no response type', () => authorize({ response_type: '' }), 'app'],
    ['an unknown response type', () => authorize({ response_type: 'token' }), 'app'],
    ['an unknown response mode', () => authorize({ response_mode: 'jwt' }), 'app'],
    ['a response mode for no Client', () => authorize({ response_mode: 'fragment' }), 'app'],
    ['a prompt that contradicts itself', () => authorize({ prompt: 'none login' }), 'app'],
    ['no scope', () => authorize({ scope: '' }), 'app'],
    ['a scope in quotes', () => authorize({ scope: 'openid "email"' }), 'app'],
    ['a max_age that is no number', () => authorize({ max_age: 'x' }), 'app'],
    ['claims that are no object', () => authorize({ claims: '[' }), 'app'],
    ['an essential acr that is unknown', () => authorize({ claims: essential('x') }), 'app'],
    ['a request object', () => authorize({ request: 'e30.e30.' }), 'app'],
    ['a request_uri', () => authorize({ request_uri: 'https://app.example.test/r' }), 'app'],
    [
      'an unknown pushed request',
      () => authorize({ request_uri: 'urn:ietf:params:oauth:request_uri:x' }),
      'app',
    ],
    ['a registration', () => authorize({ registration: '{}' }), 'app'],
    ['a short challenge', () => authorize({ code_challenge: 'x' }), 'app'],
    ['a resource that is none', () => authorize({ resource: 'x' }), 'app'],
    ['a state that is too long', () => authorize({ state: 's'.repeat(5_000) }), 'app'],
    ['the same to be pushed', () => post('par', { ...named, state: 's'.repeat(5_000) }), 'app'],
    ['a push without Client', () => post('par', { state: 's'.repeat(5_000) }), undefined],
    ['an unknown code', () => post('token', code, shop), 'shop'],
    ['an unknown refresh token', () => post('token', refresh, shop), 'shop'],
    ['an unknown grant type', () => post('token', { grant_type: 'x' }, shop), 'shop'],
    ['another grant type', () => post('token', { grant_type: 'password' }, shop), 'shop'],
    ['no grant type', () => post('token', {}, shop), 'shop'],
    ['no code', () => post('token', { grant_type: 'authorization_code' }, shop), 'shop'],
    [
      'a short verifier',
      () => post('token', { ...code, code_verifier: 'x', redirect_uri: 'x' }, shop),
      'shop',
    ],
    [
      'a secret in two places',
      () => post('token', { ...code, client_secret: 'hush' }, shop),
      'shop',
    ],
    ['no secret', () => post('token', code, basic('shop:')), 'shop'],
    ['the name of another Client', () => post('token', { ...code, ...named }, shop), 'app'],
    ['no Client', () => post('token', code), undefined],
    ['a header that is no Basic', () => post('token', { ...code, ...named }, basic('shop')), 'app'],
    ['an assertion without type', () => post('token', assertion), 'app'],
    [
      'an assertion of another type',
      () => post('token', { ...assertion, client_assertion_type: 'x' }),
      'app',
    ],
    ['an assertion that is no JWT', () => post('token', ofType), 'app'],
    ['a JWT to revoke', () => post('revoke', { token: 'e30.e30.x' }, shop), 'shop'],
    ['no token', () => post('introspect', {}, shop), 'shop'],
    ['two tokens', () => post('introspect', 'token=a&token=b', shop), 'shop'],
    [
      'JSON',
      () => post('introspect', 'token=a', { ...shop, 'content-type': 'application/json' }),
      'shop',
    ],
    [
      'a page of another origin',
      () => post('token', { ...code, ...named }, { origin: 'https://x.test' }),
      'app',
    ],
    ['userinfo without token', () => userinfo({}), undefined],
    ['userinfo with an unknown token', () => userinfo({ authorization: 'Bearer x' }), undefined],
    ['userinfo with a token in the query', () => userinfo({}, '?access_token=x'), undefined],
    ['userinfo with a secret', () => userinfo(shop), 'shop'],
    [
      'userinfo with the token of an Audience',
      async () => userinfo({ authorization: `Bearer ${await tokenFor()}` }),
      'buyer',
    ],
  ])(
    '%s: the log has it, and the Client if one is named; so has the answer',
    async (_, send, client) => {
      const before = service.logs.length;
      const { headers, body } = (await send()) as { headers: Record<string, string>; body: any };
      const lines = service.logs
        .slice(before)
        .map((log) => JSON.parse(log))
        .filter((line) => line.message === message);
      expect(lines).toEqual([
        expect.objectContaining({ endpoint: expect.any(String), remedy: expect.any(String) }),
      ]);
      expect(lines[0].client).toBe(client);
      expect(service.logs.slice(before).join('')).not.toContain('hush');
      const sent = URL.parse((headers.location ?? '').replace('#', '?'))?.searchParams;
      const description = sent?.get('error_description') ?? body.error_description;
      if (lines[0].remedy !== undefined && !description.includes(' is over ')) {
        expect(description).toContain(`(what to set: ${lines[0].remedy})`);
      }
    },
  );
});
