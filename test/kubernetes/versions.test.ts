import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl, Ran } from '../support/cluster/kubectl.js';
import { stopAll } from '../support/service.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

const privacy = 'https://app.example.test/privacy';
const terms = 'https://app.example.test/terms';
const client = (version: 'v1alpha1' | 'v1beta1', name: string, fields: object) => ({
  apiVersion: `id.vestibule.org/${version}`,
  kind: 'Client',
  metadata: { name },
  spec: { displayName: 'App', redirectURIs: ['https://app.example.test/cb'], ...fields },
});

eachKubectl((found) => {
  const prefix = `v${found.version.replaceAll('.', '-')}`;
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });
  const run = (args: string[], object: object): Promise<Ran> =>
    operator.run([...args, '-f', operator.file('object.yaml', JSON.stringify(object))]);
  const apply = async (flags: string[], object: object): Promise<Ran> => {
    const ran = await run(['apply', ...flags], object);
    expect([ran.code, ran.error.replaceAll(/^Warning: .*v1alpha1.*\n/gm, '')]).toEqual([0, '']);
    return ran;
  };
  const field = (resource: string, name: string, path: string): Promise<string> =>
    operator.says('get', resource, name, '-o', `jsonpath={${path}}`);

  test('reads and explains each version by its name, the newer one by default', async () => {
    const name = `${prefix}-read`;
    await apply([], client('v1beta1', name, { privacyPolicyURI: privacy }));
    expect(await field('clients', name, '.spec.privacyPolicyURI')).toBe(privacy);
    const old = 'clients.v1alpha1.id.vestibule.org';
    const { out, error } = await operator.run([
      'get',
      old,
      name,
      '-o',
      'jsonpath={.spec.policyURI}',
    ]);
    expect([out, error]).toEqual([
      privacy,
      'Warning: id.vestibule.org/v1alpha1 Client is deprecated; use id.vestibule.org/v1beta1 Client\n',
    ]);
    const explain = (version: string): Promise<string> =>
      operator.says('explain', 'clients.spec', `--api-version=id.vestibule.org/${version}`);
    expect(await explain('v1alpha1')).toMatch(/\bpolicyURI\b/);
    expect(await explain('v1beta1')).toMatch(/\bprivacyPolicyURI\b/);
  });

  test.each(['v1alpha1', 'v1beta1'] as const)(
    'applies in one version what was %s',
    async (from) => {
      const to = from === 'v1alpha1' ? 'v1beta1' : 'v1alpha1';
      const names = {
        v1alpha1: { policyURI: privacy, termsURI: terms },
        v1beta1: { privacyPolicyURI: privacy, termsOfServiceURI: terms },
      };
      const one = {
        v1alpha1: { policyURI: privacy },
        v1beta1: { privacyPolicyURI: privacy },
      };
      for (const flags of [['--server-side'], []]) {
        const name = `${prefix}-${from}${flags.length > 0 ? '-server' : ''}`;
        await apply(flags, client(from, name, names[from]));
        await apply(flags, client(to, name, names[to]));
        expect(await field('clients', name, '.spec.termsOfServiceURI')).toBe(terms);
        // What is no longer applied goes. On the server it may have been applied in the other version;
        // kubectl itself compares names alone.
        if (flags.length > 0) await apply(flags, client(from, name, one[from]));
        await apply(flags, client(to, name, one[to]));
        expect(await field('clients', name, '.spec.termsOfServiceURI')).toBe('');
        expect(await field('clients', name, '.spec.privacyPolicyURI')).toBe(privacy);
        const { out } = await run(['diff', ...flags], client(to, name, one[to]));
        expect(out).toBe('');
      }
    },
  );
});
