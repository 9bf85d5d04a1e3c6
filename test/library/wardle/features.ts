import { expect } from '@jest/globals';
import { settles } from '../../support/patience.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { group } from '../fixture.js';
import { plain, textOf, type Way } from './way.js';

/** The kinds in one way, as the cases use them. */
export class Kinds {
  readonly way: Way;
  readonly #client: Tab;
  #count = 0;

  constructor(way: Way) {
    this.way = way;
    this.#client = way.client();
  }

  /** A name that no other object has. */
  newName(): string {
    this.#count += 1;
    return `fish-${this.#count}`;
  }

  ask(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
    headers: Record<string, string> = {},
  ): PromiseLike<Answer> {
    const target = path.startsWith('/') ? path : `/apis/${group}/${path}`;
    return this.#client.send(method, target, {
      ...plain,
      headers: { 'content-type': type, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Tries to create a Flunder. */
  async flunder(spec: object = {}, query = '', metadata: object = {}): Promise<Answer> {
    return this.ask('POST', this.way.flunders + query, {
      apiVersion: `${group}/v1beta1`,
      kind: 'Flunder',
      metadata: { name: this.newName(), ...metadata },
      spec,
    });
  }

  /** The path of a new Flunder. */
  async created(metadata: object = {}): Promise<string> {
    const { code, body } = await this.flunder({}, '', metadata);
    expect(code).toBe(201);
    return `${this.way.flunders}/${body.metadata.name}`;
  }

  async code(path: string): Promise<number> {
    return (await this.ask('GET', path)).code;
  }

  merge(path: string, body: object): PromiseLike<Answer> {
    return this.ask('PATCH', path, body, 'application/merge-patch+json');
  }

  apply(path: string, by: string, reference: string): PromiseLike<Answer> {
    const applied = {
      apiVersion: `${group}/v1beta1`,
      kind: 'Flunder',
      metadata: { name: path.slice(path.lastIndexOf('/') + 1) },
      spec: { flunderReference: reference, referenceType: 'Flunder' },
    };
    return this.ask('PATCH', `${path}?fieldManager=${by}`, applied, 'application/apply-patch+yaml');
  }
}

/** Whether a way has a feature. */
type Feature = readonly [string, (kinds: Kinds) => Promise<boolean>];

const is = (code: number, fields: readonly string[], answer: Answer): boolean =>
  answer.code === code &&
  fields.every((field) => answer.body.details.causes.some((cause: any) => cause.field === field));

export const features: readonly Feature[] = [
  [
    'A Flunder with one reference is created',
    async (kinds) =>
      (await kinds.flunder({ flunderReference: 'a', referenceType: 'Flunder' })).code === 201 &&
      (await kinds.flunder({ fischerReference: 'a', referenceType: 'Fischer' })).code === 201,
  ],
  [
    'A wrong reference is 422 at its field',
    async (kinds) =>
      is(
        422,
        ['spec.fischerReference'],
        await kinds.flunder({
          flunderReference: 'a',
          fischerReference: 'b',
          referenceType: 'Flunder',
        }),
      ) &&
      is(422, ['spec.flunderReference'], await kinds.flunder({ flunderReference: 'a' })) &&
      is(422, ['spec.fischerReference'], await kinds.flunder({ referenceType: 'Fischer' })) &&
      is(422, ['spec.referenceType'], await kinds.flunder({ referenceType: 'Bird' })),
  ],
  [
    'A Fischer disallows names of Flunders',
    async (kinds) => {
      const { way } = kinds;
      const name = 'sole';
      const body = way.fischer('ada', [name]);
      expect((await kinds.ask('POST', way.fischers, body)).code).toBe(201);
      const tries = (): Promise<Answer> => kinds.flunder({}, '?dryRun=All', { name });
      const refused = await settles(tries, ({ code }) => code === 403);
      await kinds.ask('DELETE', `${way.fischers}/ada`);
      await settles(tries, ({ code }) => code === 201);
      return refused.body.message.includes('this name may not be used');
    },
  ],
  [
    'Flunders are in namespaces',
    async (kinds) => (await kinds.ask('GET', 'v1beta1/namespaces/default/flunders')).code === 200,
  ],
  [
    'Flunders of v1alpha1 have one field for both references',
    async (kinds) => {
      const old = kinds.way.flunders.replace('v1beta1', 'v1alpha1');
      const metadata = { name: kinds.newName() };
      const apiVersion = `${group}/v1alpha1`;
      const body = { apiVersion, kind: 'Flunder', metadata, spec: { reference: 'a' } };
      const created = await kinds.ask('POST', old, body);
      if (created.code !== 201) return false;
      const seen = await kinds.ask('GET', `${kinds.way.flunders}/${metadata.name}`);
      const { flunderReference, referenceType } = seen.body.spec;
      return flunderReference === 'a' && referenceType === 'Flunder';
    },
  ],
  [
    'Merge patch and JSON patch',
    async (kinds) => {
      const path = await kinds.created();
      const merged = await kinds.merge(path, { metadata: { labels: { a: 'b' } } });
      const operation = { op: 'add', path: '/metadata/labels/c', value: 'd' };
      const patched = await kinds.ask('PATCH', path, [operation], 'application/json-patch+json');
      return merged.code === 200 && patched.body.metadata?.labels?.c === 'd';
    },
  ],
  [
    'Strategic merge patch',
    async (kinds) =>
      (
        await kinds.ask(
          'PATCH',
          await kinds.created(),
          { metadata: { labels: { a: 'b' } } },
          'application/strategic-merge-patch+json',
        )
      ).code === 200,
  ],
  [
    '`apply --server-side`, with conflicts',
    async (kinds) => {
      const path = await kinds.created();
      const first = await kinds.apply(path, 'first', 'a');
      return first.code === 200 && (await kinds.apply(path, 'second', 'b')).code === 409;
    },
  ],
  [
    'Unknown fields with `--validate=strict` are 400',
    async (kinds) => (await kinds.flunder({ size: 1 }, '?fieldValidation=Strict')).code === 400,
  ],
  [
    '`--dry-run=server` stores nothing',
    async (kinds) => {
      const { code, body } = await kinds.flunder({}, '?dryRun=All');
      return (
        code === 201 && (await kinds.code(`${kinds.way.flunders}/${body.metadata.name}`)) === 404
      );
    },
  ],
  [
    '`generateName`',
    async (kinds) =>
      /^fish-./.test(
        (await kinds.flunder({}, '', { name: undefined, generateName: 'fish-' })).body.metadata
          ?.name ?? '',
      ),
  ],
  [
    '`limit` and `continue`',
    async (kinds) => {
      await kinds.created();
      await kinds.created();
      const { body } = await kinds.ask('GET', `${kinds.way.flunders}?limit=1`);
      return body.items.length === 1 && body.metadata.continue !== undefined;
    },
  ],
  [
    'Label selectors',
    async (kinds) => {
      await kinds.created({ labels: { shoal: 'one' } });
      const { body } = await kinds.ask('GET', `${kinds.way.flunders}?labelSelector=shoal%3Done`);
      return body.items.length === 1;
    },
  ],
  [
    'Lists as a stream (`sendInitialEvents`)',
    async (kinds) => {
      const query =
        'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
      const path = `/apis/${group}/${kinds.way.flunders}?${query}&timeoutSeconds=1`;
      return (await textOf(kinds.way.client(), path)).includes('k8s.io/initial-events-end');
    },
  ],
  [
    'OpenAPI v3',
    async (kinds) => {
      const { code, body } = await kinds.ask('GET', `/openapi/v3/apis/${group}/v1beta1`);
      return code === 200 && Object.keys(body.paths).length > 0;
    },
  ],
  [
    '`auth can-i`',
    async (kinds) => {
      const apiVersion = 'authorization.k8s.io/v1';
      const kind = 'SelfSubjectAccessReview';
      const resourceAttributes = { group, resource: 'flunders', verb: 'create' };
      const body = { apiVersion, kind, spec: { resourceAttributes } };
      const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
      // A tab refuses an answer that is not the review.
      return kinds.ask('POST', path, body).then(
        (answer) => answer.body.status.allowed === true,
        () => false,
      );
    },
  ],
  [
    'Finalizers',
    async (kinds) => {
      const path = await kinds.created({ finalizers: ['example.com/held'] });
      await kinds.ask('DELETE', path);
      if ((await kinds.code(path)) !== 200) return false;
      await kinds.merge(path, { metadata: { finalizers: null } });
      return (await kinds.code(path)) === 404;
    },
  ],
  [
    'The server itself deletes dependents with their owner',
    async (kinds) => {
      const owner = await kinds.created();
      const { body } = await kinds.ask('GET', owner);
      const { name, uid } = body.metadata;
      const reference = { apiVersion: `${group}/v1beta1`, kind: 'Flunder', name, uid };
      const dependent = await kinds.created({ ownerReferences: [reference] });
      await kinds.ask('DELETE', owner);
      const code = (): Promise<number> => kinds.code(dependent);
      return settles(code, (seen) => seen === 404, 5_000).then(
        () => true,
        () => false,
      );
    },
  ],
];

/** What is missing in which way; everything else must be there. */
const missing: Readonly<Record<string, readonly string[]>> = {
  'This core': ['Flunders of v1alpha1 have one field for both references', 'Strategic merge patch'],
  'sample-apiserver': ['`auth can-i`', 'The server itself deletes dependents with their owner'],
  CRD: ['Strategic merge patch', 'The server itself deletes dependents with their owner'],
};

/** Whether a way must have a feature. */
export const hasFeature = ({ name }: Way, feature: string): boolean =>
  !missing[name.split(',')[0]!]!.includes(feature);
