import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { toTimestamp } from '../../registry/schema/timestamp.js';
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

const apiVersion = 'id.vestibule.org/v1beta1';

eachKubectl((found) => {
  test('a person asks with kubectl, an operator approves with it, and wait ends', async () => {
    const [operator, person] = [cluster.kubectl(found), cluster.kubectl(found, 'person')];
    const group = `crew-${found.version.replaceAll('.', '-')}`;
    await cluster.operator
      .post('groups', { metadata: { name: group }, spec: { displayName: 'Crew' } })
      .is(201);
    const until = toTimestamp(Date.now() + 86_400_000);
    const created = await person.run(
      ['create', '-f', '-', '-o', 'name'],
      JSON.stringify({
        apiVersion,
        kind: 'AccessRequest',
        metadata: {},
        spec: { group, reason: 'Covers for Bob.', until },
      }),
    );
    expect(created).toMatchObject({ code: 0 });
    const name = created.out.trim().split('/')[1]!;
    expect(
      await operator.says('get', 'accessrequests', '--field-selector=status.phase=Pending'),
    ).toMatch(new RegExp(`${name} +${group} +Pending`));
    const path = `/apis/${apiVersion}/accessrequests/${name}/approve`;
    const refused = await person.run(['create', '--raw', path, '-f', '-'], '{"spec":{}}');
    expect(refused.code).not.toBe(0);
    expect(refused.error).toContain('Someone else must approve');
    const approved = await operator.run(
      ['create', '--raw', path, '-f', '-'],
      '{"spec":{"message":"Welcome."}}',
    );
    expect(approved).toMatchObject({ code: 0 });
    expect(
      await person.says(
        'wait',
        '--for=condition=Approved',
        `accessrequest/${name}`,
        '--timeout=60s',
      ),
    ).toContain('condition met');
    expect(await operator.says('describe', 'group', group)).toContain(name);
  });
});
