import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { startWithOperator } from '../../support/people/operator.js';
import type { Tab } from '../../support/people/tab.js';
import { stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

/** The spellings of a parameter `x`, after `&`, by what Kubernetes reads in them. */
const spellings: readonly (readonly [text: string, value: boolean])[] = [
  ...['', 'x=false', 'x=False', 'x=FALSE', 'x=fAlSe', 'x=0', 'x=f', 'x=F'].map(
    (text) => [text, false] as const,
  ),
  ...['x', 'x=', 'x=true', 'x=True', 'x=TRUE', 'x=t', 'x=T', 'x=1', 'x=yes', 'x=no', 'x=maybe'].map(
    (text) => [text, true] as const,
  ),
  ...['x=00', 'x=%20false', 'x=false%20', 'x=null'].map((text) => [text, true] as const),
];
const cases = (name: string) =>
  spellings.map(([text, value]) => [text.replace('x', name), value] as const);

const mounts = ['/api/v1beta1/', '/apis/id.vestibule.org/v1beta1/'];
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const metadata = (list: string) =>
  `application/json;as=PartialObjectMetadata${list};v=v1;g=meta.k8s.io`;
/** Media types of lists and of watches. */
const accepts = [
  ['application/json', 'application/json'],
  [table, table],
  [metadata('List'), metadata('')],
] as const;

describe.each(stores)('boolean parameters, on %s', (store) => {
  let operator: Tab;
  let token: string;
  let changes = 0;
  let applies = 0;
  beforeAll(async () => {
    ({ operator, token } = await startWithOperator({
      store,
      flags: ['--limit-factor', '10000'],
    }));
    await operator
      .post('groups', { metadata: { name: 'staff' }, spec: { displayName: 'Staff' } })
      .is(201);
  });
  afterAll(stopAll);

  test.each(cases('watch'))('a GET with %p is a watch: %p', async (parameter, isWatch) => {
    for (const path of ['groups', 'groups/staff']) {
      for (const mount of mounts) {
        for (const [ofList, ofWatch] of accepts) {
          const accept = isWatch || path.includes('/') ? ofWatch : ofList;
          const stream = await new Stream(
            operator,
            `${mount}${path}?timeoutSeconds=600&${parameter}`,
            accept,
            token,
          ).until(({ events, ended }) => events.length > 0 || ended);
          expectFor([path, accept], [stream.code, stream.events[0]?.type]).toEqual([
            200,
            isWatch ? 'ADDED' : undefined,
          ]);
          stream.close();
        }
      }
    }
    const head = await operator.send('HEAD', `groups?${parameter}`);
    expect(head.code).toBe(isWatch ? 400 : 200);
  });

  /** The types of the events of a watch from its start until the group was changed. */
  async function typesUntilChange(query: string): Promise<string[]> {
    const { resourceVersion } = (await operator.get('groups/staff').is(200)).body.metadata;
    const from = `watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=${resourceVersion}`;
    const stream = await new Stream(operator, `groups/staff?${from}&${query}`).until(
      ({ code }) => code === 200,
    );
    changes += 1;
    await operator
      .patch('groups/staff', { metadata: { labels: { changes: `${changes}` } } })
      .is(200);
    await stream.until(({ events }) => events.some(({ type }) => type === 'MODIFIED'));
    stream.close();
    const types = stream.events.map(({ type }) => type);
    return types.slice(0, types.indexOf('MODIFIED'));
  }

  test.each(cases('allowWatchBookmarks'))(
    'a watch with %p gets bookmarks: %p',
    async (parameter, isAllowed) => {
      expect(await typesUntilChange(`sendInitialEvents=true&${parameter}`)).toEqual(
        isAllowed ? ['ADDED', 'BOOKMARK'] : ['ADDED'],
      );
    },
  );

  test.each(cases('sendInitialEvents').filter(([text]) => text !== ''))(
    'a watch with %p begins with what exists: %p',
    async (parameter, isSent) => {
      expect(await typesUntilChange(`allowWatchBookmarks=true&${parameter}`)).toEqual(
        isSent ? ['ADDED', 'BOOKMARK'] : [],
      );
      await operator.get(`groups?${parameter}`).fails(422, 'Invalid', 'sendInitialEvents');
    },
  );

  const owned = {
    apiVersion: 'id.vestibule.org/v1beta1',
    kind: 'Group',
    spec: { displayName: 'First' },
  };
  const apply = (name: string, displayName: string, query: string, yaml: boolean) =>
    operator.patch(
      `${mounts[1]}groups/${name}?${query}`,
      yaml
        ? `apiVersion: ${owned.apiVersion}\nkind: Group\nspec:\n  displayName: ${displayName}\n`
        : { ...owned, spec: { displayName } },
      { headers: { 'content-type': 'application/apply-patch+yaml' } },
    );

  test.each(cases('force'))(
    'an apply with %p takes a field over: %p',
    async (parameter, isForced) => {
      for (const yaml of [false, true]) {
        applies += 1;
        const name = `applied-${applies}`;
        await apply(name, 'First', 'fieldManager=one', yaml).is(201);
        const answer = apply(name, 'Second', `fieldManager=two&${parameter}`, yaml);
        if (isForced) {
          expect((await answer.is(200)).body.spec.displayName).toBe('Second');
        } else {
          await answer.fails(409, 'Conflict');
        }
        expect((await operator.get(`groups/${name}`).is(200)).body.spec.displayName).toBe(
          isForced ? 'Second' : 'First',
        );
      }
      if (parameter === '') return;
      for (const type of ['application/merge-patch+json', 'application/json-patch+json']) {
        await operator
          .patch(`groups/staff?${parameter}`, type.includes('merge') ? {} : [], {
            headers: { 'content-type': type },
          })
          .fails(422, 'Invalid', 'force');
      }
    },
  );
});
