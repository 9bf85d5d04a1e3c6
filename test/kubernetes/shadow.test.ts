import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import { stopAll } from '../support/service.js';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openKubernetes();
});
afterAll(async () => {
  cluster?.stop();
  await stopAll();
});

eachKubectl((found) => {
  test('a policy in mode Shadow is put in force once wait says that it agrees', async () => {
    const operator = cluster.kubectl(found);
    const { body } = await cluster.operator.get('policies').is(200);
    const { spec } = body.items.find((item: any) => item.status.inForce);
    const draft = {
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Policy',
      spec: {
        cedar: `${spec.cedar}\n// kubectl ${found.version}\n`,
        mode: 'Shadow',
        minAgreedSeconds: 1,
      },
    };
    const create = async (policy: object): Promise<string> => {
      const ran = await operator.run(['create', '-f', '-', '-o', 'name'], JSON.stringify(policy));
      expect(ran).toMatchObject({ code: 0 });
      return ran.out.trim().replace('policy.id.vestibule.org/', '');
    };
    const trial = await create(draft);
    expect(trial).toMatch(/^s-\d+$/);
    expect(
      await operator.says('wait', '--for=condition=Agreed', `policy/${trial}`, '--timeout=120s'),
    ).toContain('condition met');
    expect(await operator.says('get', 'policy', trial)).toMatch(/Shadow +false/);
    const inForce = await create({ ...draft, spec: { ...draft.spec, mode: 'Enforce' } });
    expect(await operator.says('get', 'policy', inForce)).toMatch(/Enforce +true/);
    expect(
      await operator.says('wait', '--for=condition=InForce', `policy/${inForce}`, '--timeout=60s'),
    ).toContain('condition met');
  });
});
