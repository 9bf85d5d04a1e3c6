import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const accepts = (as: string) => ({
  headers: { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` },
});
const ways = [
  {},
  accepts('Table'),
  accepts('PartialObjectMetadata'),
  accepts('PartialObjectMetadataList'),
];

describe.each(stores)('who wrote a policy, over %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  let author: string;
  beforeAll(async () => {
    service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'ada@example.test')).tab;
    author = (await operator.get('accounts/~').is(200)).body.metadata.name;
  });

  /**
   * Everything that get, list, table, metadata and watch say of policies to `tab` while another
   * comes.
   */
  async function seenBy(tab: Tab): Promise<string> {
    const { body } = await operator.get('policies').is(200);
    const inForce = body.items.find((item: any) => item.status.inForce);
    const streams = [
      undefined,
      ...['Table', 'PartialObjectMetadata'].map((as) => accepts(as).headers.accept),
    ].map((accept) => new Stream(tab, 'policies?watch=true&resourceVersion=0', accept));
    const next = (await operator.post('policies', { spec: { cedar: inForce.spec.cedar } }).is(201))
      .body.metadata.name;
    const seen: string[] = [];
    for (const path of [
      `policies/${next}`,
      `policies/${next}?includeObject=Object`,
      'policies',
      'policies?limit=1',
      'policies?includeObject=Object',
    ]) {
      for (const way of ways) {
        const answer = await tab.get(path, way);
        if (answer.code !== 406) seen.push((await tab.get(path, way).is(200)).bytes.toString());
      }
    }
    for (const stream of streams) {
      await stream.until(({ events }) => JSON.stringify(events).includes(`"${next}"`));
      seen.push(JSON.stringify(stream.events));
      stream.close();
    }
    return seen.join('\n');
  }

  test('is shown to operators, wherever policies are shown', async () => {
    const seen = await seenBy(operator);
    expect(seen).toContain(`"author":"${author}"`);
    expect((await operator.get('policies/p-1').is(200)).body.status.author).toBe('vestibule');
    expect(
      (await operator.get('policies', accepts('Table')).is(200)).body.rows.map(
        ({ cells }: any) => cells,
      ),
    ).toContainEqual(expect.arrayContaining([author]));
  });

  test('is shown to no one else, signed in or not, wherever policies are shown', async () => {
    for (const tab of [person, service.tab()]) {
      const seen = await seenBy(tab);
      expect(seen).toContain('"hash":');
      expect(seen).not.toContain('"author"');
      expect(seen).not.toContain(author);
    }
  });

  test('is not in the answer to a creation or its dry run by a person who is no operator', async () => {
    const { body } = await operator.get('policies').is(200);
    const { cedar } = body.items.find((item: any) => item.status.inForce).spec;
    const own = (await person.get('accounts/~').is(200)).body.metadata.name;
    const open = `${cedar}\npermit (principal == Account::"${own}", action == Action::"create", resource is Policy);\n`;
    await operator.post('policies', { spec: { cedar: open } }).is(201);
    for (const path of ['policies?dryRun=All', 'policies']) {
      expect(
        (await person.post(path, { spec: { cedar: open } }).is(201)).body.status,
      ).not.toHaveProperty('author');
      expect(
        (await operator.post(path, { spec: { cedar: open } }).is(201)).body.status.author,
      ).toBe(author);
    }
  });
});
