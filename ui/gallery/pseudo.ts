import type { Catalog } from '../messages/catalog.js';
import access from '../messages/en/access.json';
import accessrequests from '../messages/en/accessrequests.json';
import account from '../messages/en/account.json';
import address from '../messages/en/address.json';
import alternatives from '../messages/en/alternatives.json';
import apps from '../messages/en/apps.json';
import base from '../messages/en/base.json';
import checklist from '../messages/en/checklist.json';
import console from '../messages/en/console.json';
import decisions from '../messages/en/decisions.json';
import ends from '../messages/en/ends.json';
import mailbox from '../messages/en/mailbox.json';
import passkey from '../messages/en/passkey.json';
import policies from '../messages/en/policies.json';
import policy from '../messages/en/policy.json';
import proof from '../messages/en/proof.json';
import invitation from '../messages/en/invitation.json';
import recovery from '../messages/en/recovery.json';
import refusal from '../messages/en/refusal.json';
import report from '../messages/en/report.json';
import rules from '../messages/en/rules.json';
import setup from '../messages/en/setup.json';
import signin from '../messages/en/signin.json';
import stepup from '../messages/en/stepup.json';

/** The complete English catalog; a missing key does not compile. */
export const english: Catalog = {
  ...base,
  ...signin,
  ...stepup,
  ...proof,
  ...address,
  ...ends,
  ...setup,
  ...invitation,
  ...recovery,
  ...refusal,
  ...report,
  ...mailbox,
  ...policies,
  ...policy,
  ...account,
  ...apps,
  ...access,
  ...accessrequests,
  ...passkey,
  ...decisions,
  ...alternatives,
  ...console,
  ...checklist,
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
