import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** The members that every object of JavaScript has. */
const names = Object.getOwnPropertyNames(Object.prototype);
/** Keys that no body may have (registry/schema/strict-json.ts). */
const refusedKeys = ['__proto__', 'constructor', 'hasOwnProperty'];
/** JSON of an object with a member of its own that JavaScript would take for a prototype. */
const json = (name: string, value: unknown): string =>
  `{${JSON.stringify(name)}:${JSON.stringify(value)}}`;

describe.each(stores)('a name that every object has, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let number = 0;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const scope = (name: string, claim: string) => ({
    name,
    title: 'Card',
    description: 'Card.',
    claims: [{ name: claim, title: 'Card', type: 'string' }],
  });
  const supplier = (scopes: object[]) => ({
    metadata: { generateName: 'one-' },
    spec: { displayName: 'One', reviewURI: 'https://one.example.test/', scopes },
  });
  const client = (spec: object) => ({
    metadata: { generateName: 'one-' },
    spec: { displayName: 'One', type: 'Public', ...spec },
  });

  test.each(names)('%s is no claim and no scope', async (name) => {
    const audience = {
      metadata: { generateName: 'one-' },
      spec: {
        displayName: 'One',
        identifier: 'https://one.test/',
        scopes: [{ name, title: 'Read', description: 'Read.' }],
      },
    };
    for (const [collection, object, field] of [
      ['claimsproviders', supplier([scope('card', name)]), 'spec.scopes[0].claims[0].name'],
      ['claimsproviders', supplier([scope(name, 'card')]), 'spec.scopes[0].name'],
      ['clients', client({ scopes: [{ name }] }), 'spec.scopes[0].name'],
      ['clients', client({ idTokenClaims: [name] }), 'spec.idTokenClaims[0]'],
      ['audiences', audience, 'spec.scopes[0].name'],
    ] as const) {
      await operator.post(collection, object).fails(422, 'Invalid', field);
    }
  });

  test.each(names)('%s is a label and an annotation like another, by every verb', async (name) => {
    if (name.startsWith('__')) return; // no key of a label begins with an underscore
    const at = `groups/one-${(number += 1)}`;
    const body = `{"metadata":{"name":"one-${number}","labels":${json(name, 'a')},"annotations":${json(name, 'b')}},"spec":{"displayName":"One"}}`;
    const kept = async (labels: object) => {
      const { metadata } = (await operator.get(at).is(200)).body;
      expect(Object.entries(metadata.labels ?? {})).toEqual(Object.entries(labels));
    };
    const headers = { 'content-type': 'application/json' };
    if (refusedKeys.includes(name)) {
      return void (await operator.send('POST', 'groups', { headers, body }).is(400));
    }
    await operator.send('POST', 'groups', { headers, body }).is(201);
    await kept({ [name]: 'a' });
    const selected = await operator.get(`groups?labelSelector=${name}%3Da`).is(200);
    expect(selected.body.items).toHaveLength(1);
    const without = await operator.get(`groups?labelSelector=!${name}`).is(200);
    expect(without.body.items.map((item: any) => item.metadata.name)).not.toContain(at.slice(7));
    await operator.patch(at, { metadata: { labels: { other: 'c' } } }).is(200);
    await kept({ [name]: 'a', other: 'c' });
    await operator.patch(at, { metadata: { labels: { [name]: null } } }).is(200);
    await kept({ other: 'c' });
    const applied = `{"apiVersion":"id.vestibule.org/v1beta1","kind":"Group","metadata":{"name":"one-${number}","labels":${json(name, 'd')}},"spec":{"displayName":"One"}}`;
    await operator
      .send('PATCH', `${at}?fieldManager=a&force=true`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: applied,
      })
      .is(200);
    await kept({ other: 'c', [name]: 'd' });
    const dropped = applied.replace(`,"labels":${json(name, 'd')}`, '');
    await operator
      .send('PATCH', `${at}?fieldManager=a&force=true`, {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: dropped,
      })
      .is(200);
    await kept({ other: 'c' });
  });

  test.each(names)('%s is no field, no parameter and no object', async (name) => {
    const at = `groups/two-${(number += 1)}`;
    await operator
      .post('groups', { metadata: { name: at.slice(7) }, spec: { displayName: 'Two' } })
      .is(201);
    const before = (await operator.get(at).is(200)).body;
    for (const [type, body] of [
      ['application/merge-patch+json', `{"spec":${json(name, { admin: true })}}`],
      ['application/merge-patch+json', json(name, { admin: true })],
      [
        'application/json-patch+json',
        JSON.stringify([{ op: 'add', path: `/spec/${name}`, value: 'x' }]),
      ],
      [
        'application/apply-patch+yaml',
        `{"apiVersion":"id.vestibule.org/v1beta1","kind":"Group","metadata":{"name":"${at.slice(7)}"},"spec":${json(name, 'x')}}`,
      ],
    ] as const) {
      const { code } = await operator.send('PATCH', `${at}?fieldManager=a`, {
        headers: { 'content-type': type },
        body,
      });
      expectFor([type, body], [400, 409, 422].includes(code)).toEqual(true);
    }
    expect((await operator.get(at).is(200)).body).toEqual(before);
    const selector = encodeURIComponent(`${name}=x`);
    await operator.get(`groups?fieldSelector=${selector}`).fails(400, 'BadRequest');
    for (const path of [`groups/${name}`, name, `groups/${at.slice(7)}/${name}`]) {
      expect([404, 405]).toContain((await operator.get(path)).code);
    }
    await operator.get(`${at}?${name}=1`).is(200);
    const claims = `{"userinfo":${json(name, { essential: true })},"id_token":${json(name, null)}}`;
    const query = new URLSearchParams({
      client_id: 'app',
      response_type: 'code',
      redirect_uri: 'https://app.example.test/callback',
      scope: `openid ${name}`,
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      claims,
      [name]: 'x',
    });
    const { code } = await service.tab().get(`/oauth2/auth?${query}`, { plain: true });
    expect(code).toBeLessThan(500);
    expect(({} as any).admin).toBeUndefined();
  });
});
