import { z } from 'zod';
import { conditions } from '../../registry/schema/conditions.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import { dayMs } from '../../registry/schema/units.js';
import { defineKind } from '../define-kind.js';
import { timestamp } from '../signin/schema-types.js';

/**
 * A mail that is stored for 24 hours instead of being sent. The kind exists only while mail is
 * mocked (docs/design/api.md#mock-mailbox).
 */
export const MockMessage = defineKind({
  kind: 'MockMessage',
  resource: 'mockmessages',
  nameSource: 'service',
  description: 'A message in the mock mailbox, which exists only while email is mocked.',
  verbs: ['get', 'list', 'watch', 'delete', 'deletecollection'],
  spec: z.object({}),
  status: z.object({
    to: z.string().describe('Recipient.'),
    from: z.string().describe('Sender.'),
    subject: z.string().describe('Subject line.'),
    text: z.string().describe('The text part.'),
    html: z.string().describe('The HTML part.'),
    sentTimestamp: timestamp().describe('When it was sent.'),
    code: z.string().optional().describe('The code in the message, if any.'),
    link: z.string().optional().describe('The link in the message, if any.'),
    conditions: conditions('Delivered').optional(),
  }),
  expires: (message) => fromTimestamp(message.status.sentTimestamp) + dayMs,
  selectableFields: { 'status.to': ({ status }) => status.to },
  columns: { To: ({ status }) => status.to, Subject: ({ status }) => status.subject },
  strategy: {
    status({ status }) {
      status.conditions = [
        {
          type: 'Delivered',
          status: 'True',
          reason: 'Stored',
          message: 'It is in the mock mailbox; it was not sent.',
          lastTransitionTime: status.sentTimestamp,
        },
      ];
    },
  },
});
