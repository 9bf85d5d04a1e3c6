import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { applyMergePatch } from '../../../apiserver/codec/merge-patch.js';
import { methodOf } from '../../../apiserver/request/verbs.js';
import { actions, kinds } from '../../../kinds/index.js';
import { expectFor } from '../../support/expect-for.js';
import fc from '../../support/fast-check.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

let service: TestService;
let tab: Tab;
beforeAll(async () => {
  service = await startTest({
    flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
  ({ tab } = await signIn(service, 'op@example.test'));
});
afterAll(stopAll);

const account = async () => (await tab.get('accounts/~').is(200)).body;

describe('bodies and patches', () => {
  test('keys that poison prototypes are 400 at any depth, however they are spelt', async () => {
    for (const body of [
      '{"__proto__":{"x":1}}',
      '{"spec":{"constructor":{"prototype":{"x":1}}}}',
      '{"\\u005f_proto__":{"x":1}}',
      '{"spec":{"a":[{"hasOwnProperty":1}]}}',
      '{"metadata":{"labels":{"__proto__":"x"}}}',
    ]) {
      await tab.patch('accounts/~', body).fails(400, 'BadRequest');
    }
    expect(({} as any).x).toBeUndefined();
    expect((await account()).x).toBeUndefined();
  });

  test('removing what an object is', async () => {
    await tab.patch('accounts/~', { spec: null }).fails(422, 'Invalid', 'spec');
    await tab.patch('accounts/~', { kind: null }).fails(400, 'BadRequest');
    await tab.patch('accounts/~', { kind: 'Session' }).fails(400, 'BadRequest');
    await tab.patch('accounts/~', { apiVersion: 'v1' }).fails(400, 'BadRequest');
    await tab.patch('accounts/~', { metadata: { name: 'another' } }).fails(400, 'BadRequest');
    await tab.patch('accounts/~', { metadata: { name: null } }).fails(400, 'BadRequest');
    await tab
      .patch('accounts/~', { metadata: { uid: '00000000-0000-4000-8000-000000000000' } })
      .fails(422, 'Invalid', 'metadata.uid');
    const { metadata } = await account();
    expect(
      (
        await tab
          .patch('accounts/~', { metadata: { uid: metadata.uid, name: metadata.name }, spec: {} })
          .is(200)
      ).body.metadata.resourceVersion,
    ).toBe(metadata.resourceVersion);
  });

  test('media types are read as RFC 9110 writes them', async () => {
    const good = [
      'application/merge-patch+json;',
      'application/merge-patch+json ; ',
      'application/merge-patch+json;;charset=utf-8;',
      'Application/Merge-Patch+JSON; Charset="UTF-8"',
      'application/merge-patch+json; x="a;charset=latin1,\\"b"',
      'application/merge-patch+json;x="";y=z',
    ];
    for (const type of good) {
      expectFor(
        type,
        (await tab.patch('accounts/~', {}, { headers: { 'content-type': type } })).code,
      ).toEqual(200);
    }
    const bad = [
      'application/merge-patch+json;charset',
      'application/merge-patch+json;charset=',
      'application/merge-patch+json;charset = utf-8',
      'application/merge-patch+json;charset=latin1',
      'application/merge-patch+json;charset=utf-8;charset=utf-8',
      'application/merge-patch+json;x="a',
      'application/merge-patch+json x',
      'application/merge-patch+json,application/merge-patch+json',
      '/',
      'application/',
      ';application/merge-patch+json',
      `application/merge-patch+json;${' ;'.repeat(3_000)}x`,
    ];
    for (const type of bad) {
      await tab
        .patch('accounts/~', {}, { headers: { 'content-type': type } })
        .fails(415, 'UnsupportedMediaType');
    }
    for (const accept of [
      'application/json;',
      'application/json; ;q=0.5',
      'application/yaml, broken, application/json',
      'x/y;z="a,b;c", application/json',
      'text/html, image/gif, *; q=.2, */*; q=.2',
    ]) {
      expectFor(accept, (await tab.get('accounts/~', { headers: { accept } })).code).toEqual(200);
    }
    for (const accept of ['application/json x', 'application/json;q=0', 'text/yaml']) {
      await tab.get('accounts/~', { headers: { accept } }).fails(406, 'NotAcceptable');
    }
  });

  test('accounts/%7E is accounts/~, spelled as some clients do', async () => {
    const mine = await account();
    for (const path of [
      'accounts/%7E',
      'accounts/%7e',
      '/apis/id.vestibule.org/v1beta1/accounts/%7E',
    ]) {
      expect((await tab.get(path).is(200)).body).toEqual(mine);
    }
    expect(
      (await tab.patch('accounts/%7E', { metadata: { name: '~' } }).is(200)).body.metadata.name,
    ).toBe(mine.metadata.name);
    await tab.get('sessions/%7e').is(200);
    await tab.get('clients/%7E').fails(404, 'NotFound');
    for (const path of ['accounts/%7', 'accounts/%257E', '%61ccounts/~', 'accounts/~%7E']) {
      expect((await tab.get(path)).code).toBe(path === 'accounts/%7' ? 400 : 404);
    }
  });

  test('status and internal are never stored; fields that are not there are named', async () => {
    const before = await account();
    const { body } = await tab
      .patch('accounts/~', { status: { email: { address: 'evil@example.test' }, passkeys: 9 } })
      .is(200);
    expect(body.status).toEqual(before.status);
    await tab
      .patch('accounts/~', { internal: { userHandle: 'x' } })
      .fails(422, 'Invalid', 'internal');
    for (const field of ['role', 'sub', 'email', 'admin']) {
      await tab
        .patch('accounts/~', { spec: { [field]: 'x' } })
        .fails(422, 'Invalid', `spec.${field}`);
    }
    await tab
      .patch('accounts/~', {
        metadata: { generation: 99, creationTimestamp: '2001-01-01T00:00:00Z' },
      })
      .is(200);
    expect((await account()).metadata).toEqual(before.metadata);
    await tab
      .patch('accounts/~', { metadata: { finalizers: ['a/b'] } })
      .fails(422, 'Invalid', 'metadata.finalizers');
  });

  test('a patch that is not an object is 400; arrays are replaced whole, null removes', async () => {
    for (const body of ['[]', '"x"', 'null', '1', '']) {
      await tab.patch('accounts/~', body).fails(400, 'BadRequest');
    }
    await tab
      .patch('clients/app', {
        spec: {
          redirectURIs: ['https://a.example.test/', 'https://b.example.test/'],
          homepageURI: 'https://a.example.test/',
        },
      })
      .is(200);
    const { body } = await tab
      .patch('clients/app', {
        spec: { redirectURIs: ['https://app.example.test/callback'], homepageURI: null },
      })
      .is(200);
    expect(body.spec.redirectURIs).toEqual(['https://app.example.test/callback']);
    expect(body.spec.homepageURI).toBeUndefined();
  });

  test('a stale version is 409, a right one 200; other patches are 415', async () => {
    const { metadata } = await account();
    const { body } = await tab
      .patch('accounts/~', {
        metadata: { resourceVersion: metadata.resourceVersion },
        spec: { displayName: 'F5' },
      })
      .is(200);
    await tab
      .patch('accounts/~', {
        metadata: { resourceVersion: metadata.resourceVersion },
        spec: { displayName: 'F5 again' },
      })
      .fails(409, 'Conflict');
    expect(
      (await tab.patch('accounts/~', { spec: { displayName: 'F5' } }).is(200)).body.metadata
        .resourceVersion,
    ).toBe(body.metadata.resourceVersion);
    for (const version of ['0', '01', 'x', '-1', 5]) {
      await tab
        .patch('accounts/~', { metadata: { resourceVersion: version } })
        .fails(422, 'Invalid', 'metadata.resourceVersion');
    }
    for (const type of [
      'application/strategic-merge-patch+json',
      'application/json',
      'application/apply-patch+cbor',
    ]) {
      const { message } = await tab
        .patch('accounts/~', {}, { headers: { 'content-type': type } })
        .fails(415, 'UnsupportedMediaType');
      expect(message).toContain('application/merge-patch+json');
    }
  });

  test('deep bodies are 400 quickly, a hundred times', async () => {
    await tab
      .patch('accounts/~', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)
      .fails(400, 'BadRequest');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (let i = 0; i < 100; i += 1) await tab.patch('accounts/~', deep).fails(400, 'BadRequest');
    await tab.patch('accounts/~', `{"a":[${'1,'.repeat(20_001)}1]}`).fails(400, 'BadRequest');
    const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
    const tooMany = `{"a":{${keys(2_000)}},"b":{${keys(1_999)}}}`;
    expect((await tab.patch('accounts/~', tooMany).fails(400, 'BadRequest')).message).toBe(
      'the body has more than 4000 keys',
    );
    const allowed = `{"a":{${keys(2_000)}},"b":{${keys(1_998)}}}`;
    await tab.patch('accounts/~', allowed).fails(422, 'Invalid');
  });

  test('over the limit is 413, declared or endless, and the connection closes', async () => {
    const { headers } = await tab
      .patch('accounts/~', ' '.repeat((256 << 10) + 1))
      .fails(413, 'RequestEntityTooLarge');
    expect(headers.connection).toBe('close');
    const { I, tab: other } = await begin(service);
    await other
      .post(`${I}/emailchallenge`, ' '.repeat((64 << 10) + 1))
      .fails(413, 'RequestEntityTooLarge');
    const cookie = tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const head = `PATCH /api/v1beta1/accounts/~ HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/merge-patch+json\r\n`;
    expect(await raw(`${head}Content-Length: 1073741824\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
    const before = process.memoryUsage().rss;
    expect(
      await raw(
        `${head}Transfer-Encoding: chunked\r\n\r\n`,
        '10000\r\n'.concat('x'.repeat(0x10000), '\r\n'),
      ),
    ).toMatch(/^HTTP\/1\.1 413 /);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20);
  });

  test('a key twice, bad UTF-8, numbers that are none and half a surrogate are 400', async () => {
    await tab.patch('accounts/~', '{"spec":{},"spec":{}}').fails(400, 'BadRequest');
    await tab
      .patch('accounts/~', '{"spec":{"displayName":"a","display\\u004eame":"b"}}')
      .fails(400, 'BadRequest');
    const send = (body: Buffer) =>
      tab.send('PATCH', 'accounts/~', {
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    await send(Buffer.from('{"spec":{"displayName":"\xc3\x28"}}', 'latin1')).fails(
      400,
      'BadRequest',
    );
    await send(Buffer.from('\ufeff{}')).fails(400, 'BadRequest');
    for (const body of [
      '{"a":NaN}',
      '{"a":1e999}',
      '{"a":9007199254740993}',
      '{"a":"\\ud800"}',
      '{"a":',
      '{"a":1}}',
      '{a:1}',
      "{'a':1}",
    ]) {
      await tab.patch('accounts/~', body).fails(400, 'BadRequest');
    }
  });

  test('encoded bodies are 415, too many or too long headers 431', async () => {
    const bomb = gzipSync(Buffer.alloc(50 << 20));
    await tab
      .send('PATCH', 'accounts/~', {
        body: bomb,
        headers: { 'content-type': 'application/merge-patch+json', 'content-encoding': 'gzip' },
      })
      .fails(415, 'UnsupportedMediaType');
    await tab
      .get('accounts/~', { headers: { 'x-long': 'x'.repeat(17_000) } })
      .fails(431, 'RequestHeaderFieldsTooLarge');
    await tab
      .get('accounts/~', {
        headers: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`x-${i}`, '1'])),
      })
      .fails(431, 'RequestHeaderFieldsTooLarge');
  });

  test('unclear framing is 400 and the connection closes', async () => {
    for (const request of [
      'POST /api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHo st: x\r\n\r\n',
      'GET /livez HTTP/1.1\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: local host\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: localhost/x\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: evil.test@localhost\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: localhost, localhost\r\n\r\n',
      'nonsense\r\n\r\n',
    ]) {
      const answer = await raw(request);
      expectFor(request, answer.split('\r\n')[0]).toEqual(
        expect.stringMatching(/^HTTP\/1\.1 400 /),
      );
      expect(answer).toContain('"kind":"Status"');
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
    expect(
      await raw(
        `GET http://evil.test/api HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 400 /);
    expect(
      await raw(
        'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      ),
    ).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close/);
  });
});

describe('properties', () => {
  const json = fc
    .jsonValue({ maxDepth: 4 })
    .filter(
      (value) => !/__proto__|constructor|prototype|hasOwnProperty/.test(JSON.stringify(value)),
    );
  const reference = (target: any, patch: any): any => {
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
    const result: any =
      typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) {
        delete result[key];
      } else {
        result[key] = reference(result[key], value);
      }
    }
    return result;
  };

  test('a merge patch is RFC 7396’s', () => {
    const objects = json.filter(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    );
    fc.assert(
      fc.property(objects, objects, (target, patch) => {
        expect(applyMergePatch(structuredClone(target), patch as any)).toEqual(
          reference(target, patch),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('random bytes to every route never give 500', async () => {
    const routes = [
      ...kinds.flatMap(({ resource }) => [
        ['POST', resource],
        ['PUT', `${resource}/~`],
        ['PATCH', `${resource}/~`],
        ['DELETE', `${resource}/x`],
      ]),
      ...actions.map((action) => [
        methodOf(action),
        `${action.of.resource}/~/${action.subresource}`,
      ]),
    ] as [string, string][];
    const types = ['application/json', 'application/merge-patch+json', 'text/plain'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...routes),
        fc.constantFrom(...types),
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          json.map((value) => Buffer.from(JSON.stringify(value))),
          json.map((spec) => Buffer.from(JSON.stringify({ spec }))),
        ),
        async ([method, path], type, body) => {
          const { code } = await tab.send(method, path, {
            body,
            headers: { 'content-type': type },
          });
          expect(code).not.toBe(500);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/**
 * Sends text on a socket, then `more` again and again until the other side answers; all that came
 * back.
 */
function raw(text: string, more?: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => {
      socket.write(text);
      push();
    });
    const push = (): void => {
      if (more && answer === '' && !socket.destroyed) socket.write(more, () => setImmediate(push));
    };
    socket
      .on('data', (chunk) => {
        answer += chunk;
      })
      .on('close', () => resolve(answer))
      .on('error', () => resolve(answer))
      .setTimeout(10_000, () => {
        socket.destroy();
        reject(new Error(`no close after: ${answer.slice(0, 200)}`));
      });
  });
}
