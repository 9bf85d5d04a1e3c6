import type { ConsentScope, Interaction, InteractionAccount } from '../../../ui/api.js';

type Status = Interaction['status'];

let version = 100;

/** Returns a timestamp `seconds` from now. */
export const inSeconds = (seconds: number): string =>
  `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;

/** The Client of the gallery. */
export const client: Status['client'] = {
  name: 'lantern',
  displayName: 'Lantern Notes',
  homepageURI: 'https://notes.lantern.test/',
  initiateLoginURI: 'https://notes.lantern.test/login',
  privacyPolicyURI: 'https://notes.lantern.test/privacy',
  termsOfServiceURI: 'https://notes.lantern.test/terms',
  firstParty: false,
};

/**
 * Returns an Interaction in LoginRequired with the given changes. Each has a later resourceVersion
 * than the one before.
 */
export function interaction(
  status: Partial<Status> = {},
  spec: Partial<Interaction['spec']> = {},
): Interaction {
  version += 1;
  return {
    apiVersion: 'id.vestibule.org/v1beta1',
    kind: 'Interaction',
    metadata: {
      name: 'k5qw3zr7mfxg2yts',
      uid: '7c7b5a9e-4a0f-4f57-9a3e-0d2f6f3a9b11',
      resourceVersion: String(version),
      generation: 1,
      creationTimestamp: inSeconds(-60),
    },
    spec: { client: client.name, scopes: ['openid', 'profile', 'email'], prompt: 'Login', ...spec },
    status: {
      phase: 'LoginRequired',
      client,
      methods: ['EmailCode', 'EmailLink'],
      expirationTimestamp: inSeconds(3540),
      ...status,
    },
  };
}

/** An email that was just sent. */
export const challenge = (
  more: Partial<NonNullable<Status['emailChallenge']>> = {},
): NonNullable<Status['emailChallenge']> => ({
  email: 'ada@example.test',
  sender: 'sign-in@vestibule.test',
  sentTimestamp: inSeconds(0),
  expirationTimestamp: inSeconds(600),
  resendAfterTimestamp: inSeconds(60),
  triesLeft: 5,
  codeLength: 8,
  ...more,
});

/** The account that signed in. */
export const account = (
  missing: InteractionAccount['setup']['missing'] = [],
): InteractionAccount => ({
  name: 'bcdfghjklmnpqrstvwxz',
  ...(missing.length ? {} : { displayName: 'Ada Lovelace' }),
  email: 'ada@example.test',
  setup: { complete: missing.length === 0, missing },
});

/** A completed login with a `returnTo`. */
export const signedIn = (missing: InteractionAccount['setup']['missing'] = []): Interaction =>
  interaction({ phase: 'Authenticated', account: account(missing), returnTo: '/gallery/left' });

/** A requested scope; `email` by default. */
export const scope = (more: Partial<ConsentScope> = {}): ConsentScope => ({
  name: 'email',
  title: 'Email address',
  description: 'To write to you about your notes.',
  sensitive: false,
  required: false,
  granted: false,
  provider: { name: 'vestibule', displayName: 'Vestibule' },
  allowed: true,
  preview: [
    { claim: 'email', title: 'Address', value: 'ada@example.test' },
    { claim: 'email_verified', title: 'Proven', value: true },
  ],
  ...more,
});

/** The scope of every sign-in. */
export const openid = scope({
  name: 'openid',
  title: 'Who you are here',
  description: 'A number that stands for you at this service only.',
  required: true,
  preview: [{ claim: 'sub', title: 'Number', value: 'q7xk2m9wvb4tzr6hndcs' }],
});

/** The profile scope. */
export const profile = scope({
  name: 'profile',
  title: 'Name and profile',
  description: 'To greet you by name.',
  preview: [
    { claim: 'name', title: 'Name', value: 'Ada Lovelace' },
    { claim: 'locale', title: 'Language', value: 'en-GB' },
    { claim: 'updated_at', title: 'Last change', value: 1_760_000_000 },
  ],
});

/** A sensitive scope of another provider. */
export const health = scope({
  name: 'health',
  title: 'Insurance',
  description: 'To fill in forms for you.',
  sensitive: true,
  provider: { name: 'meridian', displayName: 'Meridian Health' },
  preview: [
    { claim: 'insurer', title: 'Insurer', value: 'Meridian Mutual' },
    { claim: 'plans', title: 'Plans', value: ['Basic', 'Dental', 'Travel'] },
  ],
});

/** Returns the scopes of another service. */
export const ofAudience = (name: string, displayName: string, operatedBy: string): ConsentScope[] =>
  ['read', 'write'].map((one) =>
    scope({
      name: `${name}/${one}`,
      title: `${displayName}: ${one}`,
      description: `To ${one} your entries in ${displayName}.`,
      sensitive: one === 'write',
      provider: { name, displayName: operatedBy },
      audience: { name, displayName, operatedBy },
      preview: [],
    }),
  );

/** A scope that policy refuses. */
export const groups = scope({
  name: 'groups',
  title: 'Groups',
  description: 'To share notes with your teams.',
  allowed: false,
  reason: 'Groups are shared only with services of our own.',
  preview: [],
});

/** Returns an interaction that requires consent to these scopes. */
export const consent = (scopes: ConsentScope[], status: Partial<Status> = {}): Interaction =>
  interaction(
    { phase: 'ConsentRequired', account: account(), consent: { scopes }, ...status },
    { prompt: 'Consent', scopes: scopes.map(({ name }) => name) },
  );
