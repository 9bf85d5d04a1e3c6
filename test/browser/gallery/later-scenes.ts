import type { MockMessage } from '../../../ui/api.js';
import { FakeRefusal } from './answer.js';
import {
  account,
  challenge,
  client,
  consent,
  groups,
  health,
  inSeconds,
  interaction,
  ofAudience,
  openid,
  profile,
  scope,
  signedIn,
} from './interaction.js';
import { decision } from './policy.js';
import type { Scene } from './scene.js';

const completed = () => interaction({ phase: 'Completed', returnTo: '/gallery/left' });
const aborted = () => interaction({ phase: 'Aborted', returnTo: '/gallery/left' });
const many = () =>
  Array.from({ length: 20 }, (_, index) =>
    scope({
      name: `scope-${index}`,
      title: `Scope number ${index + 1}`,
      required: index === 0,
      sensitive: index % 5 === 3,
      allowed: index % 7 !== 6,
      ...(index % 7 === 6 ? { reason: 'Not for this service.', preview: [] } : {}),
    }),
  );
const asking = (scopes = [openid, profile, scope(), health, groups]): Scene => ({
  script: { GET: consent(scopes), 'POST consent': completed(), DELETE: aborted() },
});

function allowProfile(page: Document): void {
  page.getElementById('scope-profile-box')?.click();
  setTimeout(() => page.querySelector<HTMLElement>('.even .button')?.click());
}

/** Every state of setup, consent and the ends. */
export const laterScenes: Record<string, () => Scene> = {
  'setup-name': () => ({ script: { GET: signedIn(['displayName']), 'PATCH account': {} } }),
  'setup-name-required': () => {
    const { status, ...rest } = signedIn(['displayName']);
    const setup = { ...status.account!.setup, required: ['displayName' as const] };
    const account = { ...status.account!, setup };
    return { script: { GET: { ...rest, status: { ...status, account } }, 'PATCH account': {} } };
  },
  'setup-both': () => ({
    script: {
      GET: signedIn(['displayName', 'passkey']),
      'PATCH account': new FakeRefusal(422, {
        causes: [{ reason: 'FieldValueInvalid', message: 'x', field: 'spec.displayName' }],
      }),
    },
  }),
  'setup-passkey': () => ({
    script: {
      GET: signedIn(['passkey']),
      'POST passkeychallenge': new FakeRefusal(429, { retryAfterSeconds: 60 }),
    },
  }),
  'setup-passkey-refused': () => ({
    script: { GET: signedIn(['passkey']), 'POST passkeychallenge': new FakeRefusal(409) },
    act: (page) => page.querySelector<HTMLElement>('.pair .main')?.click(),
  }),
  consent: () => asking(),
  'consent-one': () => asking([openid]),
  'consent-metadata-document': () => ({
    script: {
      GET: consent([openid, scope()], {
        client: {
          name: 'https://apps.lantern.test/client.json',
          displayName: 'apps.lantern.test',
          declaredName: 'Lantern for desktops',
          redirectHost: '127.0.0.1:4711',
          firstParty: false,
        },
      }),
    },
  }),
  'consent-many': () => asking(many()),
  'consent-agreed-before': () => asking([openid, { ...profile, granted: true }, scope()]),
  'consent-audiences': () =>
    asking([
      openid,
      scope(),
      ...ofAudience('billing', 'Billing', 'Example Accounting Ltd.'),
      ...ofAudience('calendar', 'Calendar', 'Lantern Notes'),
    ]),
  'consent-no-preview': () =>
    asking([
      openid,
      {
        ...health,
        preview: [],
        previewUnavailable: true,
        claims: [
          { claim: 'insurer', title: 'Insurer' },
          { claim: 'plans', title: 'Plans' },
        ],
      },
      scope({ preview: [] }),
    ]),
  'consent-invalid': () => ({
    script: {
      ...asking().script,
      'POST consent': new FakeRefusal(422, {
        causes: [{ reason: 'FieldValueForbidden', message: 'refused', field: 'spec.scopes[1]' }],
      }),
    },
    act: allowProfile,
  }),
  'consent-refused': () => ({
    script: {
      GET: consent([openid], {
        refusal: {
          message: 'Lantern Notes is closed for maintenance of its contracts until Monday.',
          policyDecision: 'pd-3kx9v2',
        },
      }),
      DELETE: aborted(),
      'GET policydecisions/pd-3kx9v2': decision(
        0,
        { action: 'signIn' },
        { allowed: false, reasons: [{ rule: 'default', message: '' }] },
        'pd-3kx9v2',
      ),
    },
  }),
  'consent-down': () => ({
    script: { ...asking().script, 'POST consent': new FakeRefusal(503, { retryAfterSeconds: 30 }) },
  }),
  done: () => ({ script: { GET: interaction({ phase: 'Authenticated', account: account() }) } }),
  completed: () => ({ script: { GET: interaction({ phase: 'Completed' }) } }),
  cancelled: () => ({ script: { GET: interaction({ phase: 'Aborted' }) } }),
  'foreign-return': () => ({
    script: { GET: interaction({ phase: 'Completed', returnTo: 'https://evil.test/' }) },
  }),
  loading: () => ({ script: { GET: 'never' } }),
  lost: () => ({ script: { GET: new FakeRefusal(404) } }),
  over: () => ({ script: { GET: new FakeRefusal(410) } }),
  'ran-out': () => ({ script: { GET: interaction({ expirationTimestamp: inSeconds(0) }) } }),
  unreachable: () => ({ script: { GET: ['offline', interaction()] } }),
  down: () => ({
    script: { GET: [new FakeRefusal(503, { retryAfterSeconds: 20 }), interaction()] },
  }),
  busy: () => ({ script: { GET: new FakeRefusal(429, { retryAfterSeconds: 300 }) } }),
  fault: () => ({ script: { GET: new FakeRefusal(500) } }),
  'not-allowed': () => ({ script: { GET: new FakeRefusal(403, { policyDecision: 'pd-1' }) } }),
};

const mail = (
  minute: number,
  subject: string,
  more: Partial<MockMessage['status']> = {},
): MockMessage => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'MockMessage',
  metadata: {
    name: `mail-${minute}`,
    uid: '5d6ae0a4-2a50-4a6c-9f0a-3f5c8c1f4d22',
    resourceVersion: String(500 - minute),
    generation: 1,
    creationTimestamp: inSeconds(-60 * minute),
  },
  spec: {},
  status: {
    to: 'ada@example.test',
    from: 'signin@id.example.test',
    subject,
    text: 'Your code is\n\n1234 5678\n\nIt counts for ten minutes.\nIf this was not you, do nothing.',
    html: '<p>…</p>',
    sentTimestamp: inSeconds(-60 * minute),
    ...more,
  },
});

const mails = (items: MockMessage[]) => ({
  apiVersion: 'id.vestibule.org/v1beta1',
  kind: 'MockMessageList',
  metadata: { resourceVersion: '500' },
  items,
});

/** Every state of the mailbox. */
export const mailboxScenes: Record<string, () => Scene> = {
  mailbox: () => ({
    page: 'mailbox',
    script: {
      GET: [
        mails([
          mail(9, 'Your account was signed in from a new browser'),
          mail(1, 'Your sign-in to Lantern Notes', {
            code: '12345678',
            link: '/gallery/link-opened',
          }),
        ]),
        mails([]),
      ],
      DELETE: { kind: 'Status', status: 'Success' },
    },
  }),
  'mailbox-empty': () => ({ page: 'mailbox', script: { GET: mails([]) } }),
  'mailbox-absent': () => ({ page: 'mailbox', script: { GET: new FakeRefusal(404) } }),
  'mailbox-down': () => ({
    page: 'mailbox',
    script: { GET: new FakeRefusal(503, { retryAfterSeconds: 10 }) },
  }),
};

const hostile =
  '<img src=x onerror="document.title=1"><script>top.pwned=1</script>"\'`{client} {{7*7}}';
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

/** A Client with that text, and with invalid addresses, in every field. */
const evilClient = (name: string, text: string) => ({
  ...client,
  displayName: text,
  homepageURI: `https://${name}.test/`,
  privacyPolicyURI: 'javascript:document.title=1',
  termsOfServiceURI: 'data:text/html,x',
});

const evilScopes = (name: string, text: string) => [
  scope({
    name: `s"><b>${name}`,
    title: text,
    description: text,
    provider: { name: 'x', displayName: text },
    preview: [
      { claim: text, title: text, value: text },
      { claim: 'l', title: text, value: [text, text] },
    ],
  }),
  scope({ name: 'n', allowed: false, reason: text, preview: [] }),
];

/** The views that show text of others, with that text. */
function scenesWith(name: string, text: string): Record<string, Scene> {
  const evil = evilClient(name, text);
  const email = `${text}@x.test`;
  const emailChallenge = challenge({ email: `${text}@example.test` });
  const person = { ...account(['displayName']), displayName: text, email };
  const setup = interaction({ client: evil, phase: 'Authenticated', account: person });
  const refusal = { message: text, policyDecision: text };
  const link = 'javascript:document.title=1';
  return {
    email: { script: { GET: interaction({ client: evil }, { loginHint: email }) } },
    code: { script: { GET: interaction({ client: evil, emailChallenge }) } },
    setup: { script: { GET: setup } },
    consent: { script: { GET: consent(evilScopes(name, text), { client: evil }) } },
    refusal: { script: { GET: consent([], { client: evil, refusal }) } },
    mailbox: {
      page: 'mailbox',
      script: { GET: mails([mail(1, text, { to: text, text, code: '12345678', link })]) },
    },
  };
}

/** Hostile and overlong text in every place that shows text of others. */
export const hostileScenes: Record<string, () => Scene> = Object.fromEntries(
  Object.entries({ hostile, long }).flatMap(([name, text]) =>
    Object.entries(scenesWith(name, text)).map(([view, scene]) => [`${name}-${view}`, () => scene]),
  ),
);
