import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { group, servedVersions } from '../../../kinds/api-version.js';
import { kinds } from '../../../kinds/index.js';
import type { JSONSchema } from '../../../registry/schema/json-schema.js';
import { Registry } from '../../../registry/store/registry.js';
import { viewsOf } from '../../../registry/versions/kind-view.js';
import fc from '../../support/fast-check.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const scope = { name: 'cards', title: 'Cards', description: 'For tests.' };
const claims = [{ name: 'card', title: 'Card', type: 'string' }];

/** What both versions call the same, and by version what they do not. */
const renamed: readonly {
  readonly kind: string;
  readonly resource: string;
  readonly spec: object;
  readonly v1beta1: Readonly<Record<string, string>>;
  readonly v1alpha1: Readonly<Record<string, string>>;
  /** A value that is refused, and the fields at which the versions refuse it. */
  readonly wrong: string;
}[] = [
  {
    kind: 'Client',
    resource: 'clients',
    spec: { displayName: 'One', redirectURIs: ['https://one.example.test/cb'] },
    v1beta1: {
      privacyPolicyURI: 'https://one.example.test/privacy',
      termsOfServiceURI: 'https://one.example.test/terms',
    },
    v1alpha1: {
      policyURI: 'https://one.example.test/privacy',
      termsURI: 'https://one.example.test/terms',
    },
    wrong: 'javascript:void(0)',
  },
  {
    kind: 'ClaimsProvider',
    resource: 'claimsproviders',
    spec: { displayName: 'One', scopes: [{ ...scope, claims }] },
    v1beta1: { reviewURI: 'https://one.example.test/claims' },
    v1alpha1: { url: 'https://one.example.test/claims' },
    wrong: 'ftp://one.example.test/',
  },
  {
    kind: 'Audience',
    resource: 'audiences',
    spec: { displayName: 'One', identifier: 'https://api.one.example.test', scopes: [scope] },
    v1beta1: { accessTokenFormat: 'JWT' },
    v1alpha1: { tokenForm: 'JWT' },
    wrong: 'Paper',
  },
];

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

describe.each(stores)('the versions of the API over %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '100'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test', { scope: 'openid profile' })).tab;
  });
  const at = (version: string, path: string): string => `/apis/${group}/${version}/${path}`;
  const objectOf = (
    version: 'v1alpha1' | 'v1beta1',
    { kind, resource, spec, ...fields }: (typeof renamed)[number],
    name = `of-${version}`,
  ) => ({
    path: at(version, resource),
    body: {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name },
      spec: { ...spec, ...fields[version] },
    },
  });

  test.each(renamed)('a $kind that one version creates is read by both', async (row) => {
    for (const version of ['v1alpha1', 'v1beta1'] as const) {
      const { path, body } = objectOf(version, row);
      await operator.post(path, body).is(201);
      for (const reader of ['v1alpha1', 'v1beta1'] as const) {
        const own = (await operator.get(`${at(reader, row.resource)}/of-${version}`).is(200)).body;
        expect(own.apiVersion).toBe(`${group}/${reader}`);
        expect(own.spec).toMatchObject(row[reader]);
        const others = reader === 'v1alpha1' ? row.v1beta1 : row.v1alpha1;
        for (const field of Object.keys(others)) expect(own.spec).not.toHaveProperty([field]);
      }
      await operator.delete(`${path}/of-${version}`).is(200);
    }
  });

  test.each(renamed)('each version patches a $kind by its own names', async (row) => {
    const { path, body } = objectOf('v1beta1', row, 'patched');
    await operator.post(path, { ...body, spec: { ...row.spec, ...row.v1beta1 } }).is(201);
    for (const version of ['v1alpha1', 'v1beta1'] as const) {
      const object = `${at(version, row.resource)}/patched`;
      const [field = '', value] = Object.entries(row[version])[0] ?? [];
      const fields = row[version === 'v1alpha1' ? 'v1beta1' : 'v1alpha1'];
      await operator
        .patch(object, { spec: { [field]: row.wrong } })
        .fails(422, 'Invalid', `spec.${field}`);
      await operator.patch(object, { spec: { [field]: value } }).is(200);
      const [unknown = ''] = Object.keys(fields);
      await operator
        .patch(object, { spec: { [unknown]: value } })
        .fails(422, 'Invalid', `spec.${unknown}`);
    }
    await operator.delete(`${path}/patched`).is(200);
  });

  test('the profile of a person has the names of each version', async () => {
    const beta = at('v1beta1', 'accounts/~');
    const spec = { websiteURI: 'https://ada.example.test/', timeZone: 'Europe/Zurich' };
    await operator.patch(beta, { spec }).is(200);
    const { body } = await operator.get(at('v1alpha1', 'accounts/~')).is(200);
    expect(body.spec).toMatchObject({ website: spec.websiteURI, zoneinfo: spec.timeZone });
    await operator
      .patch(at('v1alpha1', 'accounts/~'), { spec: { zoneinfo: 'Mars/Base' } })
      .fails(422, 'Invalid', 'spec.zoneinfo');
    await operator.patch(at('v1alpha1', 'accounts/~'), { spec: { zoneinfo: null } }).is(200);
    expect((await operator.get(beta).is(200)).body.spec).not.toHaveProperty('timeZone');
  });

  test('the deprecated version says which one to use', async () => {
    const warningOf = async (version: string): Promise<string | undefined> =>
      (await operator.get(at(version, 'clients')).is(200)).headers.warning as string | undefined;
    expect(await warningOf('v1alpha1')).toMatch(/^299 - ".*v1alpha1.*v1beta1.*"$/);
    expect(await warningOf('v1beta1')).toBeUndefined();
  });

  test('discovery prefers the newer version', async () => {
    const { body } = await operator.get(`/apis/${group}`).is(200);
    expect(body.versions.map(({ version }: { version: string }) => version)).toEqual(
      servedVersions,
    );
    expect(body.preferredVersion.version).toBe('v1beta1');
  });

  test.each(['v1alpha1', 'v1beta1'] as const)(
    'a review URI stays hidden in what kubectl applied as %s',
    async (version) => {
      const { path, body } = objectOf(version, renamed[1]!, `applied-${version}`);
      const annotations = { [lastApplied]: JSON.stringify(body) };
      await operator.post(path, { ...body, metadata: { ...body.metadata, annotations } }).is(201);
      const person = (await signIn(service, 'ada@example.test', { scope: 'openid' })).tab;
      for (const reader of servedVersions) {
        const { bytes } = await person
          .get(at(reader, `claimsproviders/applied-${version}`))
          .is(200);
        expect(bytes.toString()).not.toContain('one.example.test/claims');
      }
      const { metadata } = (await operator.get(`${path}/applied-${version}`).is(200)).body;
      expect(JSON.parse(metadata.annotations[lastApplied]).spec).toMatchObject(
        renamed[1]![version],
      );
      await operator.delete(`${path}/applied-${version}`).is(200);
    },
  );

  test('an interaction is answered in each version to its browser alone', async () => {
    const { tab, name } = await begin(service, { scope: 'openid' });
    const paths = tab.cookies.filter((cookie) => cookie.name === 'vestibule-interaction');
    expect(paths.map(({ path }) => path).sort()).toEqual(
      ['v1alpha1', 'v1beta1'].map((version) => `/api/${version}/interactions/${name}`),
    );
    for (const version of servedVersions) {
      const path = `/api/${version}/interactions/${name}`;
      expect((await tab.get(path).is(200)).body.apiVersion).toBe(`${group}/${version}`);
      await service.tab().get(path).fails(404, 'NotFound');
    }
  });
});

/** Returns values of a schema's form; what texts and numbers they have is no matter. */
function valuesOf(schema: JSONSchema): fc.Arbitrary<unknown> {
  const part = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (part) return valuesOf(part);
  if (schema.items) return fc.array(valuesOf(schema.items), { maxLength: 3 });
  if (!schema.properties) return fc.string({ maxLength: 5 });
  const members = Object.entries(schema.properties).map(
    ([name, member]) => [name, valuesOf(member)] as const,
  );
  return fc.record(Object.fromEntries(members), { requiredKeys: [] });
}

describe('what a version calls otherwise', () => {
  const registry = new Registry(kinds, []);
  const views = kinds.flatMap((kind) => viewsOf(kind).filter(({ names }) => names));

  test('differs for some kinds', () => {
    expect(views.map(({ kind }) => kind.kind).sort()).toEqual(
      ['Interaction', 'Account', ...renamed.map(({ kind }) => kind)].sort(),
    );
  });

  test.each(views.map((view) => [view.kind.kind, view.version, view] as const))(
    'is converted to the hub and back: %s, %s',
    (_kind, _version, { kind, names }) => {
      const { spec, status } = registry.schemas(kind);
      const values = fc.record({ spec: valuesOf(spec.schema), status: valuesOf(status.schema) });
      fc.assert(
        fc.property(values, (value) => {
          expect(names!.toHub(names!.fromHub(value))).toEqual(value);
        }),
      );
    },
  );
});
