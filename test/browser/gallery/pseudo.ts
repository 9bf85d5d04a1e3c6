import type { Catalog } from '../../../ui/messages/catalog.js';
import access from '../../../ui/messages/en/access.json';
import accessrequests from '../../../ui/messages/en/accessrequests.json';
import account from '../../../ui/messages/en/account.json';
import activity from '../../../ui/messages/en/activity.json';
import address from '../../../ui/messages/en/address.json';
import alternatives from '../../../ui/messages/en/alternatives.json';
import appearance from '../../../ui/messages/en/appearance.json';
import apps from '../../../ui/messages/en/apps.json';
import base from '../../../ui/messages/en/base.json';
import checklist from '../../../ui/messages/en/checklist.json';
import console from '../../../ui/messages/en/console.json';
import decisions from '../../../ui/messages/en/decisions.json';
import ends from '../../../ui/messages/en/ends.json';
import frame from '../../../ui/messages/en/frame.json';
import groups from '../../../ui/messages/en/groups.json';
import invitation from '../../../ui/messages/en/invitation.json';
import mail from '../../../ui/messages/en/mail.json';
import mailbox from '../../../ui/messages/en/mailbox.json';
import overview from '../../../ui/messages/en/overview.json';
import passkey from '../../../ui/messages/en/passkey.json';
import people from '../../../ui/messages/en/people.json';
import policies from '../../../ui/messages/en/policies.json';
import policy from '../../../ui/messages/en/policy.json';
import proof from '../../../ui/messages/en/proof.json';
import recovery from '../../../ui/messages/en/recovery.json';
import refusal from '../../../ui/messages/en/refusal.json';
import report from '../../../ui/messages/en/report.json';
import rules from '../../../ui/messages/en/rules.json';
import settings from '../../../ui/messages/en/settings.json';
import setup from '../../../ui/messages/en/setup.json';
import signin from '../../../ui/messages/en/signin.json';
import stepup from '../../../ui/messages/en/stepup.json';

/** The complete English catalog; a missing key does not compile. */
export const english: Catalog = {
  ...base,
  ...signin,
  ...stepup,
  ...proof,
  ...address,
  ...ends,
  ...settings,
  ...appearance,
  ...mail,
  ...setup,
  ...invitation,
  ...recovery,
  ...refusal,
  ...report,
  ...mailbox,
  ...policies,
  ...policy,
  ...account,
  ...frame,
  ...groups,
  ...people,
  ...activity,
  ...apps,
  ...access,
  ...accessrequests,
  ...passkey,
  ...decisions,
  ...alternatives,
  ...console,
  ...checklist,
  ...overview,
  ...rules,
};

/** Changes the words of a message, but not its arguments or the names of plural forms. */
const changeWords = (text: string, change: (word: string) => string): string =>
  text.replace(
    /(\{\w{1,32}(?:\}|, plural,)|\b(?:zero|one|two|few|many|other) \{(?!\w{1,32}\})|\})|([A-Za-z]+)/g,
    (_, kept: string | undefined, word: string) => kept ?? change(word),
  );

const changeCatalog = (change: (text: string) => string): Catalog =>
  Object.fromEntries(Object.entries(english).map(([id, text]) => [id, change(text)])) as Catalog;

const accents: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ö',
  u: 'ü',
  y: 'ý',
  c: 'ç',
  n: 'ñ',
  s: 'š',
  A: 'Å',
  E: 'É',
  I: 'Î',
  O: 'Ø',
  U: 'Û',
  S: 'Š',
};

/** Accented text, a third longer, to find text that is cut off or not translated. */
export const accented: Catalog = {
  ...changeCatalog((text) =>
    changeWords(
      text,
      (word) =>
        [...word].map((letter) => accents[letter] ?? letter).join('') +
        'õ'.repeat(Math.ceil(word.length / 3)),
    ),
  ),
  dir: 'ltr',
};

const letters = 'ابجدهوزحطيكلمنسعفصقرشتثخذض';

/** Arabic letters instead of Latin ones, right to left. */
export const mirrored: Catalog = {
  ...changeCatalog((text) =>
    changeWords(text, (word) =>
      [...word.toLowerCase()]
        .map((letter) => letters[letter.charCodeAt(0) - 97] ?? letter)
        .join(''),
    ),
  ),
  dir: 'rtl',
};
