import type { Account } from '../../../ui/api.js';
import { messageText } from '../../../ui/base/text/i18n.js';
import type { MessageID } from '../../../ui/messages/catalog.js';
import {
  ada,
  apps,
  grant,
  grants,
  passkey,
  passkeys,
  person,
  review,
  reviews,
  session,
  sessions,
  unnotifiedSession,
} from './account.js';
import { FakeRefusal } from './answer.js';
import type { Script } from './fake-api.js';
import { inSeconds } from './interaction.js';
import { decision, list, me } from './policy.js';
import type { Scene } from './scene.js';

const providers = list('ClaimsProvider', [
  {
    metadata: { name: 'vestibule' },
    spec: {
      displayName: 'Vestibule',
      scopes: [
        { name: 'openid', title: 'Your identifier', claims: [] },
        { name: 'email', title: 'Your email address', claims: [] },
      ],
    },
  },
  {
    metadata: { name: 'meridian' },
    spec: {
      displayName: 'Meridian Health',
      scopes: [{ name: 'health', title: 'Insurance', claims: [] }],
    },
  },
]);
const groups = list('Group', [
  { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: ['Ada@example.test'] } },
  {
    metadata: { name: 'finance' },
    spec: {
      displayName: 'Finance',
      temporaryMembers: [
        { email: 'ada@example.test', until: inSeconds(86_400 * 30), reason: 'Year end' },
      ],
    },
  },
  { metadata: { name: 'leads' }, spec: { displayName: 'Leads', members: ['kay@example.test'] } },
]);
const lists = (): Script => ({
  'GET recoveries': list('Recovery', []),
  'GET passkeys': list('Passkey', passkeys()),
  'GET sessions': list('Session', sessions()),
  'GET accounts/~/apps': apps(),
  'GET accessrequests': list('AccessRequest', []),
  'GET groups': groups,
  'GET grants': list('Grant', grants()),
  'GET claimsreviews': list('ClaimsReview', reviews()),
  'GET policydecisions': list('PolicyDecision', [
    decision(1, {}),
    decision(2, { action: 'patch' }),
  ]),
  'GET claimsproviders': providers,
});
/** The account page with these responses. */
export const page = (
  script: Script = {},
  act?: Scene['act'],
  account: Account = person(ada),
): Scene => ({
  page: 'account',
  script: { 'GET accounts/~': account, ...lists(), ...script },
  ...(act && { act }),
});
/** The account page, opened with a step to continue with. */
export const at = (fragment: string, script: Script = {}, act?: Scene['act']): Scene => ({
  ...page(script, act),
  fragment,
});
const nothing: Script = {
  'GET passkeys': list('Passkey', []),
  'GET sessions': list('Session', sessions().slice(0, 1)),
  'GET accounts/~/apps': { items: [] },
  'GET grants': list('Grant', []),
  'GET claimsreviews': list('ClaimsReview', []),
  'GET policydecisions': list('PolicyDecision', []),
};

const nextFrame = (): Promise<void> =>
  new Promise((done) => {
    requestAnimationFrame(() => done());
  });
const api = () => globalThis.stage!.api;

/** Waits until `find` returns something: a chunk may have to be loaded first. */
const untilPresent = async <T>(find: () => T | null | undefined): Promise<T | undefined> => {
  for (let frames = 0; frames < 300; frames += 1) {
    const found = find();
    if (found) return found;
    await nextFrame();
  }
  return undefined;
};

type Press = MessageID | readonly [MessageID, number];

/**
 * Presses buttons by their text in the current language, the first match unless an index is given,
 * and `confirm` when it no longer ignores clicks.
 */
export const press =
  (...presses: Press[]) =>
  async (shown: Document): Promise<void> => {
    for (const press of presses) {
      const [id, which] = typeof press === 'string' ? ([press, 0] as const) : press;
      const words = messageText(id).replace(/\{.*/, '').trim();
      if (id === 'confirm') {
        await new Promise((done) => {
          setTimeout(done, 550);
        });
      }
      const buttons = () => [...shown.querySelectorAll<HTMLElement>('main button')];
      (
        await untilPresent(
          () => buttons().filter(({ textContent }) => textContent?.startsWith(words))[which],
        )
      )?.click();
      await api().settled();
    }
  };
/** Types words into a field. */
export const type =
  (id: string, words: string) =>
  async (shown: Document): Promise<void> => {
    const field = (await untilPresent(() => shown.getElementById(id))) as HTMLInputElement;
    field.value = words;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await nextFrame();
  };
/** Does one after another. */
export const inSequence =
  (...acts: NonNullable<Scene['act']>[]) =>
  async (shown: Document): Promise<void> => {
    for (const act of acts) await act(shown);
  };
const uncheckSecond = async (shown: Document): Promise<void> => {
  (await untilPresent(() => shown.querySelector<HTMLElement>('.scope input:enabled')))?.click();
};
const open = (shown: Document): void => {
  shown.querySelector<HTMLElement>('summary')?.click();
};

const sent = {
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'EmailChallenge',
  spec: { email: 'ada@new.example' },
  status: {
    sentTimestamp: inSeconds(0),
    expirationTimestamp: inSeconds(600),
    resendAfterTimestamp: inSeconds(60),
    triesLeft: 5,
    codeLength: 8,
    sender: 'sign-in@example.org',
  },
};
/** The sessions of the account, this one with a problem of the code for a new address. */
const undelivered = (emailDeliveryState: 'Deferred' | 'Failed') =>
  list(
    'Session',
    sessions().map((session) =>
      session.status.current
        ? { ...session, status: { ...session.status, emailDeliveryState } }
        : session,
    ),
  );
const toCode = inSequence(
  press('address.change'),
  type('new-email', 'ada@new.example'),
  press('address.send'),
);
const invalid = (...fields: string[]): FakeRefusal =>
  new FakeRefusal(422, {
    causes: fields.map((field) => ({ reason: 'FieldValueInvalid', message: 'x', field })),
  });
/** The page after a code for a new address that is refused. */
const codeRefused = (refusal: FakeRefusal): Scene =>
  page(
    { 'POST accounts/~/emailchallenge': sent, 'POST accounts/~/email': refusal },
    inSequence(toCode, type('new-code', '12345678')),
  );
const rename = inSequence(press('passkeys.rename'));
const down = new FakeRefusal(503, { retryAfterSeconds: 20 });

/** Every state of the account page. */
export const accountScenes: Record<string, () => Scene> = {
  account: () => page(),
  'account-new': () => page(nothing, undefined, person({}, 0)),
  'account-loading': () => ({ page: 'account', script: { 'GET accounts/~': 'never' } }),
  'account-offline': () => page({ 'GET accounts/~': ['offline', person(ada)] }),
  'account-down': () => page({ 'GET accounts/~': [down, person(ada)] }),
  'account-visitor': () => ({
    ...page({ 'GET accounts/~': new FakeRefusal(401) }),
    search: 'error=access_denied',
  }),
  'account-parts-apart': () =>
    page({
      'GET passkeys': 'offline',
      'GET sessions': down,
      'GET accounts/~/apps': down,
      'GET grants': new FakeRefusal(403, { policyDecision: 'pd-1' }),
      'GET claimsreviews': new FakeRefusal(500),
    }),
  'account-parts-loading': () =>
    page({
      'GET passkeys': 'never',
      'GET sessions': 'never',
      'GET accounts/~/apps': 'never',
      'GET grants': 'never',
      'GET claimsreviews': 'never',
    }),
  'account-apps-unreadable': () => page({ 'GET accounts/~/apps': new FakeRefusal(403) }),
  'account-profile': () => page({}, open),
  'account-profile-saved': () =>
    page(
      { 'PATCH accounts/~': person({ ...ada, displayName: 'Ada King' }) },
      inSequence(type('profile-displayName', 'Ada King'), press('save.profile')),
    ),
  'account-profile-invalid': () =>
    page(
      { 'PATCH accounts/~': invalid('spec.websiteURI', 'spec.birthdate') },
      inSequence(open, type('profile-websiteURI', 'x'), press('save.profile')),
    ),
  'account-profile-conflict': () =>
    page(
      {
        'PATCH accounts/~': new FakeRefusal(409),
        'GET accounts/~': [person(ada), person({ ...ada, nickname: 'Countess' })],
      },
      inSequence(type('profile-displayName', 'Ada King'), press('save.profile')),
    ),
  'account-profile-down': () =>
    page(
      { 'PATCH accounts/~': down },
      inSequence(type('profile-displayName', 'Ada King'), press('save.profile')),
    ),
  'account-email': () => page({}, press('address.change')),
  'account-email-empty': () => page({}, press('address.change', 'address.send')),
  'account-email-invalid': () =>
    page({ 'POST accounts/~/emailchallenge': invalid('spec.email') }, toCode),
  'account-email-waiting': () =>
    page(
      { 'POST accounts/~/emailchallenge': new FakeRefusal(429, { retryAfterSeconds: 50 }) },
      toCode,
    ),
  'account-email-resumed': () => at('email'),
  'account-email-sent': () => page({ 'POST accounts/~/emailchallenge': sent }, toCode),
  'account-email-deferred': () =>
    page(
      { 'POST accounts/~/emailchallenge': sent, 'GET sessions': undelivered('Deferred') },
      toCode,
    ),
  'account-email-failed': () =>
    page({ 'POST accounts/~/emailchallenge': sent, 'GET sessions': undelivered('Failed') }, toCode),
  'account-email-again': () =>
    page(
      {
        'POST accounts/~/emailchallenge': [
          { ...sent, status: { ...sent.status, resendAfterTimestamp: inSeconds(0) } },
          { ...sent, status: { ...sent.status, sentTimestamp: inSeconds(1) } },
        ],
      },
      toCode,
    ),
  'account-email-wrong': () => codeRefused(new FakeRefusal(422, { triesLeft: 3 })),
  'account-email-replaced': () => codeRefused(new FakeRefusal(410, { triesLeft: 3 })),
  'account-email-over': () => codeRefused(new FakeRefusal(410)),
  'account-email-taken': () => codeRefused(new FakeRefusal(409)),
  'account-passkey-resumed': () => at('passkey-add'),
  'account-passkey-rename': () => page({}, rename),
  'account-passkey-rename-invalid': () =>
    page(
      { [`PATCH passkeys/${me}-pk1`]: invalid('spec.displayName') },
      inSequence(rename, press('save.name')),
    ),
  'account-passkey-delete': () => page({}, press('passkeys.delete')),
  'account-passkey-delete-last': () =>
    page({ 'GET passkeys': list('Passkey', [passkey(1, 'MacBook')]) }, press('passkeys.delete')),
  'account-passkey-delete-resumed': () => at(`passkey-delete=${me}-pk1`),
  'account-passkey-required': () =>
    page(
      { [`DELETE passkeys/${me}-pk1`]: new FakeRefusal(409) },
      press('passkeys.delete', 'confirm'),
    ),
  'account-passkey-many': () =>
    page({ 'POST accounts/~/passkeychallenge': new FakeRefusal(409) }, press('passkey.add')),
  'account-session-events': () =>
    page({}, async (shown) => {
      (
        await untilPresent(() =>
          shown.querySelector<HTMLElement>('[aria-labelledby=sessions] summary'),
        )
      )?.click();
    }),
  'account-session-end': () => page({}, press(['sessions.end', 1])),
  'account-session-untold': () =>
    page(
      { [`DELETE sessions/${me}-s2`]: unnotifiedSession() },
      press(['sessions.end', 1], 'confirm'),
    ),
  'account-session-end-here': () => page({}, press('sessions.end')),
  'account-sessions-others': () => page({}, press('sessions.others')),
  'account-sessions-down': () =>
    page({ 'DELETE sessions': down }, press('sessions.others', 'confirm')),
  'account-signed-out': () =>
    page({ [`DELETE sessions/${me}-s1`]: sessions()[0]! }, press('sessions.end', 'confirm')),
  'account-grant-less': () => page({}, uncheckSecond),
  'account-grant-remove': () => page({}, press('grants.remove')),
  'account-grant-refused': () =>
    page(
      { [`DELETE grants/${me}-lantern`]: new FakeRefusal(403, { policyDecision: 'pd-1' }) },
      press('grants.remove', 'confirm'),
    ),
  'account-decisions': () => page({}, press('account.decisions.show')),
  'account-reviews-many': () =>
    page({
      'GET claimsreviews': list(
        'ClaimsReview',
        Array.from({ length: 14 }, (_, i) => review(i + 1, 'Answered')),
      ),
    }),
  'account-delete': () => page({}, press('data.delete')),
  'account-delete-resumed': () => at('delete'),
  'account-delete-refused': () =>
    page(
      { 'DELETE accounts/~': new FakeRefusal(403, { policyDecision: 'pd-1' }) },
      press('data.delete', 'confirm'),
    ),
  'account-deleted': () =>
    page({ 'DELETE accounts/~': person(ada) }, press('data.delete', 'confirm')),
};

const hostile =
  '<img src=x onerror="document.title=1"><script>top.pwned=1</script>"\'`{client} {{7*7}}';
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

/** Hostile and overlong text wherever the page shows text of others. */
export const hostileAccountScenes: Record<string, () => Scene> = Object.fromEntries(
  (
    [
      ['hostile', hostile],
      ['long', long],
    ] as const
  ).map(([name, words]) => [
    `${name}-account`,
    () =>
      page(
        {
          'GET passkeys': list('Passkey', [
            passkey(1, words, { authenticator: { aaguid: words, name: words } }),
          ]),
          'GET sessions': list('Session', [
            session(
              1,
              { browser: words, os: words, device: words },
              { clients: [{ name: words, displayName: words }] },
            ),
          ]),
          'GET accounts/~/apps': {
            items: [
              {
                client: words,
                displayName: words,
                access: 'Allowed',
                startURI: `javascript:${words}`,
                logoURI: words,
              },
              { client: 'evil', displayName: words, access: 'Refused', reason: words },
            ],
          },
          'GET grants': list('Grant', [
            grant('evil', words, ['openid', words], {
              disclosures: [
                {
                  scope: words,
                  claims: [words],
                  provider: words,
                  firstTimestamp: inSeconds(-9),
                  lastTimestamp: inSeconds(-9),
                },
              ],
            }),
          ]),
          'GET claimsreviews': list('ClaimsReview', [
            review(1, 'Answered', { client: words, provider: words, scopes: [words] }),
          ]),
        },
        undefined,
        person({ displayName: words, websiteURI: words }),
      ),
  ]),
);
