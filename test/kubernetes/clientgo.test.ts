import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Cluster, openKubernetes } from '../support/cluster/cluster.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The programs may have to be built. */
jest.setTimeout(900_000);

/** The versions of the API, each with a service of its own. */
const apiVersions = ['v1beta1', 'v1alpha1'];
const clusters: Record<string, Cluster> = {};
beforeAll(async () => {
  for (const version of apiVersions) clusters[version] = await openKubernetes();
});
afterAll(async () => {
  for (const cluster of Object.values(clusters)) cluster.stop();
  await stopAll();
});

/** Features of a program, and the facts that it prints of each. */
/** What an informer in each version sees of one Client. */
const policyIn = (event: string): string[] =>
  ['v1alpha1', 'v1beta1'].map(
    (version) => `${event.replace(' ', ' https://app.example.test/')} in ${version}`,
  );

type Features = Readonly<Record<string, readonly string[]>>;

function uses(program: string | undefined, version: string, features: Features): void {
  const each = program === undefined ? test.skip.each : test.each;
  each(Object.entries(features))('%s', async (feature, facts) => {
    const operator = clusters[version]!.kubectl({ version: '', path: '' });
    const config = join(dirname(operator.file('any', '')), 'config');
    const { stdout } = await promisify(execFile)(program!, [config, feature.replaceAll(' ', '-')], {
      env: { ...process.env, API_VERSION: version },
    });
    expect(stdout.trimEnd().split('\n')).toEqual(facts);
  });
}

describe.each([
  ['0.29', 'v1beta1'],
  ['0.37', 'v1beta1'],
  ['0.37', 'v1alpha1'],
])('client-go %s on %s', (version, apiVersion) => {
  uses(toolProgram('client-go', ...(version === '0.37' ? [] : [version])), apiVersion, {
    discovery: [
      'resources of [id.vestibule.org/v1alpha1 id.vestibule.org/v1beta1 v1]',
      'Group is groups in scope root',
      'it has an OpenAPI document',
      'it has a version: true',
    ],
    objects: [
      'the name is taken: true',
      'that name is invalid: true',
      'the version is stale: true',
      'it is called Third',
      'another uid is deleted: false true',
      'it is gone: true',
    ],
    patches: [
      'after a merge patch: Merged',
      'after a JSON patch: Replaced',
      'a test that fails is invalid: true',
      'a strategic merge patch is unsupported: true',
    ],
    apply: [
      'a conflict: true',
      'FieldManagerConflict .spec.displayName',
      'by force: Second',
      'managed by second Apply',
    ],
    pages: ['25 objects in 3 pages'],
    metadata: [
      'PartialObjectMetadata metadata-0',
      'PartialObjectMetadata metadata-1',
      'PartialObjectMetadata metadata-2',
    ],
    informer: [
      'added informer-0 Many',
      'added informer-1 Many',
      'added informer-late Late',
      'updated informer-late Changed',
      'deleted informer-0 Many',
      'deleted informer-1 Many',
      'deleted informer-late Changed',
    ],
    retry: ['labels: 8'],
    watch: ['MODIFIED Second', 'MODIFIED Third'],
    reviews: ['a name: true', 'may create groups: true', 'has rules: true'],
    versions: [
      ...['first', 'second', 'third'].flatMap((step) => policyIn(`is ${step}`)),
      ...policyIn('was third'),
    ],
  });
});

describe.each(apiVersions)('controller-runtime 0.25 on %s', (apiVersion) => {
  uses(toolProgram('controller-runtime'), apiVersion, {
    reconcile: ['reconciled 3 as Many', 'reconciled 1 as Late', 'reconciled 1 as Changed'],
    index: ['found index'],
    'create or update': ['First created', 'First unchanged', 'Second updated'],
    patch: ['a conflict: true'],
  });
});
