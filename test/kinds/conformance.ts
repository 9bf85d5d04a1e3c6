import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';

/** What a kind's conformance is checked with. */
export interface Samples {
  /** A valid object; `internal` and `status` as the service would make them. */
  readonly valid: (owner: { name: string; uid: string }) => {
    name: string;
    spec: any;
    status?: any;
    internal?: any;
  };
  /** Specs that are refused with 422, and the field each is refused at. */
  readonly invalid?: readonly { spec: any; field: string }[];
  /** A merge patch of spec that changes something, and one that removes an optional field. */
  readonly patch?: any;
  /** A field of status that lists leave out. */
  readonly decorated?: string;
}

/**
 * The checks every kind passes on both stores: discovery, documents, versions, status, internal,
 * selectors.
 */
export function conforms(kind: AnyKind, samples: Samples): void {
  describe.each(stores)(`${kind.kind} on %s`, (store) => {
    let service: TestService;
    let operator: Tab;
    let object: KindObject;
    const at = (): string => `${kind.resource}/${object.metadata.name}`;
    beforeAll(async () => {
      service = await startTest({
        store,
        flags: ['--operators', 'op@example.test', '--limit-factor', '50'],
      });
      await createClient(service, 'app');
      operator = (await signIn(service, 'op@example.test')).tab;
      const account = (await operator.get('accounts/~').is(200)).body;
      const { name, ...rest } = samples.valid({
        name: account.metadata.name,
        uid: account.metadata.uid,
      });
      object = await service.store.change(service.store.systemCall(), async (tx) => {
        const labels = { sample: 'yes' };
        if (!(await tx.get(kind, name))) {
          return tx.create(kind, { metadata: { name, labels }, ...rest } as never);
        }
        return tx.update(kind, name, (next: KindObject) => {
          Object.assign(next, rest);
          next.metadata.labels = labels;
        });
      });
    });
    afterAll(() => service?.stop());

    test('stands in discovery and in the OpenAPI document with its verbs', async () => {
      const { body } = await operator.get('/api/v1beta1').is(200);
      const found = body.resources.find((resource: any) => resource.name === kind.resource);
      expect(found).toMatchObject({
        kind: kind.kind,
        namespaced: false,
        verbs: [...kind.verbs].sort(),
      });
      const { body: document } = await operator.get('/api/openapi/v3').is(200);
      expect(document.components.schemas[kind.kind]['x-kubernetes-group-version-kind']).toEqual([
        { group: 'id.vestibule.org', version: 'v1beta1', kind: kind.kind },
      ]);
      const item = document.paths[`/api/v1beta1/${kind.resource}/{name}`] ?? {};
      for (const [verb, method] of [
        ['get', 'get'],
        ['patch', 'patch'],
        ['update', 'put'],
        ['delete', 'delete'],
      ] as const) {
        expect(item[method] !== undefined).toBe(kind.verbs.includes(verb));
      }
    });

    test('answers a GET and a list alike, internal never on the wire', async () => {
      if (kind.heldBy) return;
      const { body, bytes } = await operator.get(at()).is(200);
      expect(body).toMatchObject({
        apiVersion: 'id.vestibule.org/v1beta1',
        kind: kind.kind,
        metadata: {
          name: object.metadata.name,
          uid: object.metadata.uid,
          resourceVersion: object.metadata.resourceVersion,
        },
      });
      expect(bytes.toString()).not.toContain('"internal":');
      const { body: list } = await operator
        .get(`${kind.resource}?labelSelector=sample%3Dyes`)
        .is(200);
      if (samples.decorated !== undefined) {
        expect(body.status[samples.decorated]).toBeDefined();
        delete body.status[samples.decorated];
      }
      expect(list).toMatchObject({ kind: `${kind.kind}List`, items: [body] });
      expect(
        (
          await operator
            .get(
              `${kind.resource}?labelSelector=sample!%3Dyes&fieldSelector=metadata.name%3D${object.metadata.name}`,
            )
            .is(200)
        ).body.items,
      ).toEqual([]);
    });

    test('is a row of its table, a cell a column', async () => {
      if (kind.heldBy) return;
      const { body } = await operator
        .get(`${kind.resource}?labelSelector=sample%3Dyes`, {
          headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        })
        .is(200);
      expect(body.columnDefinitions.map((columnDefinition: any) => columnDefinition.name)).toEqual([
        'Name',
        ...Object.keys(kind.columns),
        'Age',
      ]);
      expect(body.rows.map((row: any) => [row.cells[0], row.cells.length])).toEqual([
        [object.metadata.name, body.columnDefinitions.length],
      ]);
    });

    test('does not take an unlisted method', async () => {
      for (const [verb, method] of [
        ['patch', 'PATCH'],
        ['update', 'PUT'],
        ['delete', 'DELETE'],
      ] as const) {
        if (kind.verbs.includes(verb)) continue;
        const { headers } = await operator.send(method, at()).fails(405, 'MethodNotAllowed');
        expect(headers.allow).toContain('GET');
      }
    });

    const writable = kind.verbs.includes('patch');
    if (writable) {
      test('moves its version on a change alone, and never takes a status', async () => {
        const before = (await operator.get(at()).is(200)).body;
        const same = await operator
          .patch(at(), { metadata: { labels: { sample: 'yes' } }, status: { lies: true } })
          .is(200);
        expect(same.body.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
        const { body: after } = await operator.patch(at(), { spec: samples.patch }).is(200);
        expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(
          Number(before.metadata.resourceVersion),
        );
        expect(after.metadata.generation).toBe(before.metadata.generation + 1);
        await operator
          .patch(at(), {
            metadata: { resourceVersion: before.metadata.resourceVersion },
            spec: samples.patch,
          })
          .fails(409, 'Conflict');
        const { body: labelled } = await operator
          .patch(at(), { metadata: { labels: { sample: null } } })
          .is(200);
        expect(labelled.metadata.labels).toBeUndefined();
        expect(labelled.metadata.generation).toBe(after.metadata.generation);
      });
    }

    if (writable) {
      test('names each invalid field', async () => {
        await operator.patch(at(), { spec: { bogus: 1 } }).fails(422, 'Invalid', 'spec.bogus');
        for (const { spec, field } of samples.invalid ?? []) {
          await operator.patch(at(), { spec }).fails(422, 'Invalid', field);
        }
        await operator.patch(at(), { kind: null }).fails(400, 'BadRequest');
        await operator.patch(at(), { spec: null }).fails(422, 'Invalid', 'spec');
      });
    }
  });
}
