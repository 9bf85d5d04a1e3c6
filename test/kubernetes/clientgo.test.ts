import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Cluster, openKubernetes } from '../support/cluster/cluster.js';
import { toolProgram } from '../support/cluster/tool-program.js';
import { stopAll } from '../support/service.js';

/** The programs may have to be built. */
jest.setTimeout(900_000);

let cluster: Cluster;
let config: string;
beforeAll(async () => {
  cluster = await openKubernetes();
  const operator = cluster.kubectl({ version: '', path: '' });
  config = join(dirname(operator.file('any', '')), 'config');
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

/** Features of a program, and the facts that it prints of each. */
type Features = Readonly<Record<string, readonly string[]>>;

function uses(program: string | undefined, features: Features): void {
  const each = program === undefined ? test.skip.each : test.each;
  each(Object.entries(features))('%s', async (feature, facts) => {
    const { stdout } = await promisify(execFile)(program!, [config, feature.replaceAll(' ', '-')]);
    expect(stdout.trimEnd().split('\n')).toEqual(facts);
  });
}

describe.each(['0.29', '0.37'])('client-go %s', (version) => {
  uses(toolProgram('client-go', ...(version === '0.37' ? [] : [version])), {
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
  });
});

describe('controller-runtime 0.25', () => {
  uses(toolProgram('controller-runtime'), {
    reconcile: ['reconciled 3 as Many', 'reconciled 1 as Late', 'reconciled 1 as Changed'],
    index: ['found index'],
    'create or update': ['First created', 'First unchanged', 'Second updated'],
    patch: ['a conflict: true'],
  });
});
