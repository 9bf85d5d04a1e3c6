import { z } from 'zod';
import { catalogs } from '../../i18n/languages.js';
import { Translator } from '../../i18n/translator.js';
import { type MailOrder, writeContent } from '../../mail/messages.js';
import { defineAction } from '../../registry/action.js';
import type { Call } from '../../registry/kind.js';
import { dayMs, minuteMs } from '../../registry/schema/units.js';
import { apiVersion } from '../api-version.js';
import { Appearance } from './appearance.js';

const text = (describe: string) => z.string().optional().describe(describe);

const MailSample = z.object({
  mail: z.string().describe('Which mail it is, such as SignIn.'),
  language: z.string().describe('Its language, BCP 47.'),
  direction: z.string().describe('The direction of the language: ltr or rtl.'),
  subject: z.string().describe('Its subject.'),
  blocks: z
    .array(
      z.object({
        text: text('A paragraph.'),
        code: text('A code: a sample.'),
        link: text('The address of a button: a sample.'),
        label: text('The text of that button.'),
        footer: text('Small print.'),
      }),
    )
    .describe('What it says, in order; each block has one of the fields, a button two.'),
});
type MailSample = z.infer<typeof MailSample>;

const AppearanceMails = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('AppearanceMails').describe('The kind.'),
  items: z.array(MailSample).describe('Each mail in each language.'),
});

/** Returns each mail as it is ordered, with sample data. */
function samplesOf({ settings, now }: Call): Readonly<Record<string, MailOrder>> {
  const host = new URL(settings.baseURL).host;
  const account = `${settings.baseURL}/account`;
  const shared = { host, now, account, browser: 'Firefox on Linux' };
  const [to, code] = ['ada@example.test', '12345678'];
  const ends = now + settings.limits.emailCodeLifetime;
  const link = `${account}#sample`;
  const recovery = { ...shared, ready: now + settings.limits.recoveryWait };
  const inviter = { name: 'Ada Example', email: to };
  return {
    SignIn: { to, signIn: { ...shared, client: 'Example', code, link, ends } },
    NewBrowser: { to, newBrowser: shared },
    Invitation: {
      to,
      invitation: { host, link, until: now + 7 * dayMs, client: 'Example', inviter },
      object: 'sample',
    },
    NewAddress: { to, newAddress: { ...shared, code, ends } },
    AddressChanged: { to, addressChanged: shared },
    PasskeyAdded: { to, passkey: { ...shared, change: 'Added', name: 'Example' } },
    PasskeyRemoved: { to, passkey: { ...shared, change: 'Removed', name: 'Example' } },
    RecoveryStarted: {
      to,
      recovery: { ...recovery, event: 'Started', startedBy: 'Operator', cancel: link },
    },
    RecoveryCompleted: { to, recovery: { ...recovery, event: 'Completed', startedBy: 'Operator' } },
    RecoveryCancelled: { to, recovery: { ...recovery, event: 'Cancelled', startedBy: 'Operator' } },
    AccessApproved: { to, accessDecided: { ...shared, group: 'Example', until: now + 7 * dayMs } },
    AccessDenied: { to, accessDecided: { ...shared, group: 'Example' } },
    AccountDeleted: { to, accountDeleted: { ...shared, asked: now - minuteMs, byOwner: true } },
    Test: { to, test: shared },
  };
}

/**
 * GET appearances/<name>/mails: returns every mail in every language as it would be sent now. Codes
 * and links are samples.
 */
export const mailSamples = defineAction({
  of: Appearance,
  subresource: 'mails',
  verb: 'get',
  kind: 'AppearanceMails',
  answers: { kind: 'AppearanceMails', schema: AppearanceMails },
  description: 'Returns every mail in every language as it would be sent now, with sample data.',
  async run(call, { spec }) {
    const samples = Object.entries(samplesOf(call));
    const items = Object.keys(catalogs).flatMap((language) => {
      const translator = new Translator([language], call.request.timeZone);
      const { direction } = translator;
      return samples.map(([mail, order]): MailSample => {
        const { subject, blocks } = writeContent(translator, order, spec);
        return { mail, language, direction, subject, blocks: [...blocks] };
      });
    });
    return { apiVersion, kind: 'AppearanceMails', items };
  },
});
