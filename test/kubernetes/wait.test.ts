import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Cluster, eachKubectl, openKubernetes } from '../support/cluster/cluster.js';
import type { Kubectl } from '../support/cluster/kubectl.js';
import { until } from '../support/patience.js';
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
  const name = `w${found.version.replaceAll('.', '-')}`;
  let operator: Kubectl;
  beforeAll(() => {
    operator = cluster.kubectl(found);
  });

  test('wait returns when a condition holds, and while it does not, fails at its timeout', async () => {
    await cluster.operator
      .post('clients', {
        metadata: { name },
        spec: { displayName: 'Waits', redirectURIs: ['https://rp.example.test/cb'] },
      })
      .is(201);
    const early = await operator.run(
      `wait --for=condition=Ready client/${name} --timeout=1s`.split(' '),
    );
    expect(early.code).toBe(1);
    expect(early.error).toContain('timed out waiting for the condition');
    const waits = operator.run(['wait', '--for=condition=Ready', `client/${name}`]);
    await cluster.operator.post(`clients/${name}/secret`, { spec: {} }).is(201);
    expect(await waits).toMatchObject({
      code: 0,
      out: `client.id.vestibule.org/${name} condition met\n`,
    });
    expect(
      await operator.says('wait', '--for=condition=InForce', 'policy', '--all', '--timeout=60s'),
    ).toContain('condition met');
  });

  test('get selects by fields, and names those that may be selected by', async () => {
    expect(
      await operator.says(
        'get',
        'policies',
        '--field-selector',
        'status.inForce=true',
        '-o',
        'name',
      ),
    ).toBe('policy.id.vestibule.org/p-1\n');
    const refused = await operator.run(['get', 'policies', '--field-selector', 'spec.x=1']);
    expect(refused.error).toContain('"metadata.name", "status.inForce"');
  });

  test('describe shows the refusals about an object', async () => {
    const person = cluster.kubectl(found, 'person');
    const watches = [
      operator.follow('events', '--for', `client/${name}`, '--watch'),
      operator.follow('events', '--watch'),
      operator.follow('get', 'events', '-o', 'jsonpath={.message}{"\\n"}', '--watch'),
    ];
    const refused = await person.run(['delete', 'client', name]);
    expect(refused.code).toBe(1);
    await until(async () =>
      /Events:\n +Type +Reason[^]*Warning +Refused .*vestibule +Account::"\w+" may not delete/.test(
        await operator.says('describe', 'client', name),
      ),
    );
    expect(await operator.says('events')).toMatch(
      /Warning +Refused +Client\/\S+ +.* may not delete/,
    );
    expect(await operator.says('events', '--for', `client/${name}`)).toMatch(
      /Refused +Client\/.* may not delete/,
    );
    for (const watch of watches) {
      await watch.until((text) => text.includes('may not delete'));
      await watch.stop();
    }
  });

  test('explain marks as required only what a caller must send', async () => {
    const client = await operator.says('explain', 'client', '--recursive');
    const required = client.split('\n').filter((line) => line.includes('-required-'));
    expect(required.map((line) => line.trim().split(/[\s\t]/, 1)[0])).toEqual([
      'spec',
      'displayName',
      'keys', // of jwks
      'name', // of a scope
    ]);
    expect(await operator.says('explain', 'policydecision', '--recursive')) //
      .not.toContain('-required-');
  });
});
