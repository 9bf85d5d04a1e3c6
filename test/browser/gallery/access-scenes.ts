import type { AccessRequest } from '../../../ui/api.js';
import { apiVersion, metadata } from './account.js';
import { inSequence, page, press, type } from './account-scenes.js';
import { FakeRefusal } from './answer.js';
import { inSeconds } from './interaction.js';
import { list, me } from './policy.js';
import type { Scene } from './scene.js';

const day = 86_400;

const request = (
  number: number,
  group: string,
  phase: AccessRequest['status']['phase'],
  status: Partial<AccessRequest['status']> = {},
): AccessRequest => ({
  apiVersion,
  kind: 'AccessRequest',
  metadata: metadata(`${me}-r${number}`, number * day),
  spec: { group, reason: 'I write the minutes of the meeting.', until: inSeconds(7 * day) },
  status: { account: me, phase, ...status },
});

const fillIn = inSequence(
  press('access.ask'),
  type('access-ledger-reason', 'I write the minutes of the meeting.'),
);

/** Requests for access on the account page. */
export const accessScenes: Record<string, () => Scene> = {
  'access-ask': () => page({}, fillIn),
  'access-sent': () =>
    page(
      { 'POST accessrequests': request(1, 'staff', 'Pending') },
      inSequence(fillIn, press('access.send')),
    ),
  'access-refused': () =>
    page({ 'POST accessrequests': new FakeRefusal(429) }, inSequence(fillIn, press('access.send'))),
  'access-requests': () =>
    page({
      'GET accessrequests': list('AccessRequest', [
        request(1, 'staff', 'Pending'),
        request(2, 'printers', 'Approved', { until: inSeconds(3 * day), message: 'Welcome.' }),
        request(3, 'keepers', 'Denied', { message: 'Keepers are chosen by the board.' }),
        request(4, 'guests', 'Expired'),
      ]),
    }),
  'access-end': () =>
    page(
      { 'GET accessrequests': list('AccessRequest', [request(2, 'printers', 'Approved')]) },
      press('access.end'),
    ),
};
