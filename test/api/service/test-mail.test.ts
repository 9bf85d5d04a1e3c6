import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { LastMail } from '../../../cmd/vestibule/serve/replicas/last-mail.js';
import { Replica } from '../../../kinds/replica.js';
import { MailOutcomes } from '../../../mail/outcomes.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { recordSnapshot } from '../../../storage/snapshot/last-snapshot.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterEach(stopAll);
afterAll(stopAll);

const nameOf = async (tab: Tab): Promise<string> =>
  (await tab.get('accounts/~').is(200)).body.metadata.name;

test('operators send a test mail to themselves only, and few of them', async () => {
  const service = await startTest({ flags: ['--operators', 'op@example.test'] });
  await createClient(service, 'app');
  const operator = (await signIn(service, 'op@example.test')).tab;
  const ada = (await signIn(service, 'ada@example.test')).tab;
  const [op, person] = [await nameOf(operator), await nameOf(ada)];
  await service.tab().delete('mockmessages').is(200);
  await ada.post(`accounts/${person}/testmail`, { spec: {} }).is(403);
  await operator.post(`accounts/${person}/testmail`, { spec: {} }).is(403);
  await operator.post(`accounts/${op}/testmail`, { spec: {} }).is(200);
  const mail = await mailTo(service, 'op@example.test');
  expect(mail.subject).toMatch(/^localhost:\d+ can send mail$/);
  const { mailsPerKnownAddress, mailsPerNetwork } = service.store.settings.limits;
  const codes: number[] = [];
  while (codes.at(-1) !== 429 && codes.length < mailsPerNetwork) {
    codes.push((await operator.post(`accounts/${op}/testmail`, { spec: {} })).code);
  }
  expect(codes).toEqual([...Array(mailsPerKnownAddress - 1).fill(200), 429]);
});

describe.each(stores)('the last mail on %s', (store) => {
  test('is known after a restart, for the mail server that accepted it', async () => {
    const { storage } = await startTest({ store });
    const outcomes = new MailOutcomes();
    const first = new LastMail(storage, 'mail.example.test', outcomes);
    expect(await first.time()).toBeUndefined();
    outcomes.count('Kept');
    outcomes.count('Failed');
    expect(await first.time()).toBeUndefined();
    outcomes.count('Sent');
    const at = await first.time();
    expect(at).toBe(outcomes.lastAcceptedAt);
    const restarted = new LastMail(storage, 'mail.example.test', new MailOutcomes());
    expect(await restarted.time()).toBe(at);
    const moved = new LastMail(storage, 'mail.other.test', new MailOutcomes());
    expect(await moved.time()).toBeUndefined();
  });
});

test('a Replica has the time of the last snapshot', async () => {
  const directory = temporary();
  const time = '2026-01-02T03:04:05.000Z';
  await recordSnapshot({ directory }, time);
  const service = await startTest({ directory });
  const [replica] = await service.store.reader(Replica).list();
  expect(replica!.status.store.lastSnapshotTimestamp).toBe(toTimestamp(Date.parse(time)));
});
