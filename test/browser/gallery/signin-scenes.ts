import type { Interaction } from '../../../ui/api.js';
import { FakeRefusal, type FakeResponse, wrong } from './answer.js';
import type { Script } from './fake-api.js';
import { installPasskey, passkeyOptions } from './fake-passkey.js';
import { challenge, client, inSeconds, interaction, signedIn } from './interaction.js';
import { decision } from './policy.js';
import type { Scene } from './scene.js';

const token = 'A'.repeat(43);
const sent = () => interaction({ emailChallenge: challenge() });
const resendable = () =>
  interaction({
    emailChallenge: challenge({
      sentTimestamp: inSeconds(-61),
      resendAfterTimestamp: inSeconds(-1),
    }),
  });

const all = ['EmailCode', 'EmailLink', 'Passkey'] as const;

/** Submits the first form. */
const submit = (page: Document): void => page.querySelector('form')?.requestSubmit();

const fill =
  (id: string, text: string) =>
  (page: Document): void => {
    const field = page.getElementById(id) as HTMLInputElement;
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

const onlyMembers = 'Only members of the Lantern project may sign in to Lantern Notes.';

/**
 * A sign-in that policy refuses after the code is typed. `read` responds to the request for the
 * decision.
 */
const refused = (read: FakeResponse): Scene => ({
  script: {
    GET: sent(),
    DELETE: interaction({ phase: 'Aborted', returnTo: '/gallery/left' }),
    'GET decision': read,
    'POST login': new FakeRefusal(
      403,
      { policyDecision: 'pd-7hq2m4' },
      `interactions.id.vestibule.org "k5qw" is forbidden: ${onlyMembers}`,
    ),
  },
  act: fill('code', '12345678'),
});

/** A sign-in to the account page. */
const own: Parameters<typeof interaction>[0] = {
  client: { name: 'vestibule-account', displayName: 'Account page', firstParty: true },
};
const named = { spec: { displayName: 'Lantern ID' } };

/** Every state from the address to the proof. */
export const signinScenes: Record<string, () => Scene> = {
  'first-visit': () => ({
    script: {
      GET: interaction(),
      'POST emailchallenge': sent(),
      DELETE: interaction({ phase: 'Aborted', returnTo: '/gallery/left' }),
    },
  }),
  'email-hinted': () => ({
    script: {
      GET: interaction({}, { loginHint: 'ada@example.test' }),
      'POST emailchallenge': sent(),
    },
  }),
  'email-empty': () => ({ script: { GET: interaction() }, act: submit }),
  'email-invalid': () => ({
    script: {
      GET: interaction({}, { loginHint: 'ada@example' }),
      'POST emailchallenge': wrong('spec.email'),
    },
    act: submit,
  }),
  'email-busy': () => ({
    script: {
      GET: interaction({}, { loginHint: 'ada@example.test' }),
      'POST emailchallenge': 'never',
    },
    act: submit,
  }),
  'email-offline': () => ({
    script: {
      GET: interaction({}, { loginHint: 'ada@example.test' }),
      'POST emailchallenge': ['offline', sent()],
    },
    act: submit,
  }),
  'email-waiting': () => ({
    script: {
      GET: interaction({}, { loginHint: 'ada@example.test' }),
      'POST emailchallenge': new FakeRefusal(429, { retryAfterSeconds: 540 }),
    },
    act: submit,
  }),
  'email-not-offered': () => ({ script: { GET: interaction({ methods: [] }) } }),
  'passkey-offered': () => ({
    script: {
      GET: interaction({ methods: [...all] }),
      'POST passkeychallenge': new FakeRefusal(429, { retryAfterSeconds: 60 }),
      'POST emailchallenge': sent(),
    },
  }),
  'passkey-only': () => ({
    script: {
      GET: interaction({ methods: ['Passkey'] }),
      'POST passkeychallenge': new FakeRefusal(503, { retryAfterSeconds: 5 }),
    },
  }),
  'step-up-passkey': () => ({
    script: {
      GET: interaction({ methods: ['Passkey'], stepUp: { reason: 'AcrRequested', acr: 'phr' } }),
    },
  }),
  'step-up-again': () => ({
    script: { GET: interaction({ methods: [...all], stepUp: { reason: 'Policy' } }) },
  }),
  'passkey-busy': () => ({
    script: { GET: interaction({ methods: ['Passkey'] }), 'POST passkeychallenge': 'never' },
    act: press,
  }),
  'passkey-down': () => ({
    script: {
      GET: interaction({ methods: ['Passkey'] }),
      'POST passkeychallenge': new FakeRefusal(503, { retryAfterSeconds: 5 }),
    },
    act: press,
  }),
  'passkey-changed': () => ({
    script: {
      GET: interaction({ methods: [...all] }),
      'POST passkeychallenge': passkeyOptions,
      'POST login': [wrong('spec.credential.response.authenticatorData'), wrong('spec.credential')],
    },
    act: (page) => {
      installPasskey();
      page.querySelector<HTMLElement>('.or .button')?.click();
    },
  }),
  'ends-soon': () => ({ script: { GET: interaction({ expirationTimestamp: inSeconds(272) }) } }),
  'code-sent': () => ({
    script: {
      GET: sent(),
      'POST login': signedIn(),
      'POST emailchallenge': sent(),
      discovery: { resources: [{ name: 'mockmessages' }] },
    },
  }),
  'code-only': () => ({
    script: {
      GET: interaction({ methods: ['EmailCode'], emailChallenge: challenge() }),
      'POST login': signedIn(),
    },
  }),
  'link-only': () => ({
    script: { GET: interaction({ methods: ['EmailLink'], emailChallenge: challenge() }) },
  }),
  'mail-deferred': () => ({
    script: {
      GET: interaction({ emailChallenge: challenge({ deliveryState: 'Deferred' }) }),
      'POST login': signedIn(),
    },
  }),
  'mail-failed': () => ({
    script: {
      GET: interaction({
        emailChallenge: challenge({ deliveryState: 'Failed', resendAfterTimestamp: inSeconds(-1) }),
      }),
      'POST emailchallenge': sent(),
    },
  }),
  'code-resendable': () => ({
    script: {
      GET: resendable(),
      'POST emailchallenge': [new FakeRefusal(429, { retryAfterSeconds: 480 }), sent()],
    },
  }),
  'code-wrong': () => ({
    script: { GET: sent(), 'POST login': [wrong('spec.code', { triesLeft: 3 }), signedIn()] },
    act: fill('code', '12345678'),
  }),
  'code-no-tries': () => ({
    script: {
      GET: resendable(),
      'POST login': wrong('spec.code', { triesLeft: 0 }),
      'POST emailchallenge': sent(),
    },
    act: fill('code', '12345678'),
  }),
  'code-expired': () => ({
    script: {
      GET: interaction({
        emailChallenge: challenge({
          expirationTimestamp: inSeconds(-5),
          resendAfterTimestamp: inSeconds(-500),
        }),
      }),
      'POST login': new FakeRefusal(410),
    },
    act: fill('code', '12345678'),
  }),
  'code-replaced': () => ({
    script: { GET: sent(), 'POST login': new FakeRefusal(410) },
    act: fill('code', '12345678'),
  }),
  'code-resting': () => ({
    script: { GET: sent(), 'POST login': new FakeRefusal(429, { retryAfterSeconds: 900 }) },
    act: fill('code', '12345678'),
  }),
  'code-down': () => ({
    script: { GET: sent(), 'POST login': new FakeRefusal(503, { retryAfterSeconds: 5 }) },
    act: fill('code', '12345678'),
  }),
  'code-fault': () => ({
    script: { GET: sent(), 'POST login': new FakeRefusal(500) },
    act: fill('code', '12345678'),
  }),
  'code-new-account': () => ({
    script: { GET: sent(), 'POST login': signedIn(['displayName']), 'PATCH account': {} },
  }),
  'link-opened': () => ({ token, script: { GET: sent(), 'POST login': signedIn() } }),
  'link-elsewhere': () => ({ token, script: { GET: new FakeRefusal(404) } }),
  'link-foreign': () => ({
    token,
    script: { GET: sent(), 'POST login': new FakeRefusal(403) },
    act: press,
  }),
  'link-expired': () => ({
    token,
    script: {
      GET: interaction({ emailChallenge: challenge({ expirationTimestamp: inSeconds(-5) }) }),
      'POST login': new FakeRefusal(410),
      'POST emailchallenge': sent(),
    },
    act: press,
  }),
  'link-used': () => ({
    token,
    script: { GET: interaction(), 'POST login': new FakeRefusal(410) },
    act: press,
  }),
  'link-replaced': () => ({
    token,
    script: { GET: sent(), 'POST login': new FakeRefusal(410) },
    act: press,
  }),
  refused: () =>
    refused(
      decision(
        0,
        { action: 'signUp' },
        {
          allowed: false,
          reasons: [{ rule: 'members-of-the-project', message: onlyMembers }],
          alternatives: [
            { message: '', changes: [{ fact: 'Invitation' }] },
            { message: '', changes: [{ fact: 'EmailDomain', value: '*.lantern.example' }] },
          ],
        },
        'pd-7hq2m4',
      ),
    ),
  'refused-unread': () => refused(new FakeRefusal(404)),
  'own-page': () => ({ script: { GET: interaction(own) } }),
  'own-page-named': () => ({
    script: {
      GET: interaction({ ...own, methods: [...all], stepUp: { reason: 'NewSignInRequested' } }),
      DELETE: interaction({ ...own, phase: 'Aborted' }),
      appearance: named,
    },
  }),
  'own-page-cancelled': () => ({ script: { GET: interaction({ ...own, phase: 'Aborted' }) } }),
  'own-page-link': () => ({
    token,
    script: { GET: interaction({ ...own, emailChallenge: challenge() }) },
  }),
  'own-page-refused': () => ({
    script: {
      GET: interaction({
        ...own,
        phase: 'ConsentRequired',
        refusal: { message: 'Sign in at the office.' },
      }),
      DELETE: interaction({ ...own, phase: 'Aborted' }),
    },
  }),
  'signed-in-elsewhere': () => {
    const { metadata, ...rest } = interaction({ resumeTo: '/gallery/left' });
    const opened = { ...rest, metadata: { ...metadata, creationTimestamp: inSeconds(0) } };
    return { script: { ...elsewhere(opened), 'POST emailchallenge': sent() } };
  },
  restored: () => ({
    script: elsewhere(
      interaction({ resumeTo: '/gallery/left' }, { loginHint: 'grace@example.test' }),
    ),
  }),
  'select-account-other': () => ({
    script: elsewhere(
      interaction(
        { resumeTo: '/gallery/left', emailChallenge: challenge() },
        { prompt: 'SelectAccount' },
      ),
    ),
  }),
  'select-account': () => ({
    script: elsewhere(interaction({ resumeTo: '/gallery/left' }, { prompt: 'SelectAccount' })),
  }),
  'no-home-page': () => ({
    script: {
      GET: interaction({ client: { name: 'tool', displayName: 'tool', firstParty: true } }),
    },
  }),
  'logo-own': () => ({
    script: {
      GET: interaction({ client: { ...client, logoURI: iconAddress() } }),
    },
  }),
  logo: () => ({
    script: {
      GET: interaction({ client: { ...client, logoURI: 'https://elsewhere.test/logo.png' } }),
    },
  }),
};

/** An image of this origin. */
const iconAddress = (): string => document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href;

function press(page: Document): void {
  page.querySelector<HTMLElement>('.button.main')?.click();
}

/** A sign-in while another account is signed in in this browser. */
function elsewhere(opened: Interaction): Script {
  return { GET: opened, 'GET accounts/~': { status: { email: { address: 'ada@example.test' } } } };
}
