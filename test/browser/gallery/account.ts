import type {
  Account,
  AccountApps,
  ClaimsReview,
  Grant,
  ObjectMeta,
  Passkey,
  Recovery,
  Session,
} from '../../../ui/api.js';
import { inSeconds } from './interaction.js';
import { me } from './policy.js';

/** Group and version of every object. */
export const apiVersion = 'id.vestibule.org/v1beta1' as const;
const day = 86_400;
let version = 300;

/** The metadata of an object that is so many seconds old. */
export const metadata = (name: string, age: number): ObjectMeta => {
  version += 1;
  return {
    name,
    uid: '2f4a8f60-6a0f-4d3e-9c55-0f6b8c1d7e01',
    resourceVersion: String(version),
    generation: 1,
    creationTimestamp: inSeconds(-age),
  };
};

/** The signed-in account. */
export const person = (spec: Account['spec'] = {}, passkeys = 2): Account => ({
  apiVersion,
  kind: 'Account',
  metadata: metadata(me, 400 * day),
  spec,
  status: {
    email: { address: 'ada@example.test', verifiedTimestamp: inSeconds(-300 * day) },
    setup: { complete: true, missing: [] },
    passkeys,
    lastSignInTimestamp: inSeconds(-300),
  },
});

/** An account with a claim of each kind. */
export const ada: Account['spec'] = {
  displayName: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  locale: 'en-GB',
  timeZone: 'Europe/London',
  birthdate: '1815-12-10',
};

/** Apps of each access, one with a name in two languages. */
export const apps = (): AccountApps => ({
  items: [
    {
      client: 'board',
      displayName: 'The board of the neighbourhood association',
      access: 'SignInAgain',
      startURI: 'https://board.example.test/',
      reason: 'Sign in with a passkey.',
    },
    {
      client: 'lantern',
      displayName: 'Lantern Notes',
      displayNames: { en: 'Lantern Notes', de: 'Laternennotizen' },
      access: 'Allowed',
      startURI: 'https://lantern.example.test/login?iss=https%3A%2F%2Fid.example.test',
    },
    {
      client: 'bank',
      displayName: 'Meridian Bank',
      access: 'PasskeyRequired',
      reason: 'Sign in with a passkey.',
    },
    {
      client: 'ledger',
      displayName: 'Wiki of the staff',
      access: 'Refused',
      reason: 'Only staff may sign in here.',
      requestableGroups: ['staff', 'wiki-readers'],
    },
  ],
});

/** A passkey by its number. */
export const passkey = (
  number: number,
  displayName: string,
  status: Partial<Passkey['status']> = {},
): Passkey => ({
  apiVersion,
  kind: 'Passkey',
  metadata: metadata(`${me}-pk${number}`, number * 30 * day),
  spec: { displayName },
  status: {
    account: me,
    deviceType: 'multiDevice',
    backedUp: true,
    transports: ['internal'],
    authenticator: { aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd', name: 'Apple Passwords' },
    lastUsedTimestamp: inSeconds(-number * day),
    fullStrengthTimestamp: inSeconds(-number * 30 * day),
    ...status,
  },
});

/** Three passkeys: synced, synced without a backup, and on one device. */
export const passkeys = (): Passkey[] => [
  passkey(1, 'MacBook'),
  passkey(2, 'Telephone', { backedUp: false, lastUsedTimestamp: null }),
  passkey(3, 'Key on my ring', {
    deviceType: 'singleDevice',
    backedUp: false,
    transports: ['usb'],
    authenticator: { aaguid: '00000000-0000-0000-0000-000000000000' },
  }),
];

/** A session by its number; the first is the current one. */
export const session = (
  number: number,
  client: Session['status']['client'],
  status: Partial<Session['status']> = {},
): Session => ({
  apiVersion,
  kind: 'Session',
  metadata: metadata(`${me}-s${number}`, number * day),
  spec: {},
  status: {
    account: me,
    current: number === 1,
    authenticationTimestamp: inSeconds(-number * day),
    methods: ['EmailCode'],
    assurance: 'urn:vestibule:single',
    client,
    lastUsedTimestamp: inSeconds(-number * 3_600),
    expirationTimestamp: inSeconds(14 * day),
    clients: [{ name: 'lantern', displayName: 'Lantern Notes' }],
    ...status,
  },
});

/** This browser, another one, and one that is being signed out of apps that accept or reject it. */
export function sessions(): Session[] {
  const ending = session(
    3,
    { browser: 'Other', os: 'Other', device: 'Other' },
    {
      clients: ['lantern', 'board', 'mill', 'tool'].map((name) => ({
        name,
        displayName: `The ${name}`,
      })),
      signOut: {
        clients: (['Notified', 'Retrying', 'GaveUp', 'Unsupported'] as const).map((state, i) => ({
          name: ['lantern', 'board', 'mill', 'tool'][i]!,
          state,
        })),
      },
    },
  );
  return [
    session(
      1,
      { browser: 'Firefox', os: 'Linux', device: 'Desktop' },
      {
        methods: ['Passkey'],
        recentEvents: [
          {
            type: 'SignedIn',
            timestamp: inSeconds(-3 * day),
            method: 'EmailCode',
            browser: 'Firefox on Linux',
          },
          { type: 'CodeIssued', timestamp: inSeconds(-3 * day), client: 'lantern' },
          { type: 'TokensIssued', timestamp: inSeconds(-2 * day), client: 'lantern' },
          {
            type: 'SignedInAgain',
            timestamp: inSeconds(-day),
            method: 'Passkey',
            browser: 'Firefox on Linux',
          },
        ],
      },
    ),
    session(2, { browser: 'Safari', os: 'iOS', device: 'Phone' }, { clients: [] }),
    { ...ending, metadata: { ...ending.metadata, deletionTimestamp: inSeconds(-5) } },
  ];
}

/** The other browser after signing out of an app that cannot be notified. */
export function unnotifiedSession(): Session {
  const ended = session(
    2,
    { browser: 'Safari', os: 'iOS', device: 'Phone' },
    { signOut: { clients: [{ name: 'lantern', state: 'Unsupported' }] } },
  );
  return { ...ended, metadata: { ...ended.metadata, deletionTimestamp: inSeconds(0) } };
}

/** A grant of one app. */
export const grant = (
  client: string,
  displayName: string,
  scopes: string[],
  status: Partial<Grant['status']> = {},
): Grant => ({
  apiVersion,
  kind: 'Grant',
  metadata: metadata(`${me}-${client}`, 40 * day),
  spec: { scopes },
  status: {
    account: me,
    client: { name: client, displayName },
    grantedTimestamp: inSeconds(-40 * day),
    disclosures: [],
    ...status,
  },
});

/** Two grants: with and without disclosures. */
export const grants = (): Grant[] => [
  grant('lantern', 'Lantern Notes', ['openid', 'email', 'health'], {
    lastUsedTimestamp: inSeconds(-7_200),
    disclosures: [
      {
        scope: 'openid',
        claims: ['sub', 'auth_time'],
        provider: 'vestibule',
        firstTimestamp: inSeconds(-40 * day),
        lastTimestamp: inSeconds(-7_200),
      },
      {
        scope: 'openid',
        claims: ['sid'],
        provider: 'vestibule',
        firstTimestamp: inSeconds(-day),
        lastTimestamp: inSeconds(-day),
      },
      {
        scope: 'email',
        claims: ['email', 'email_verified'],
        provider: 'vestibule',
        firstTimestamp: inSeconds(-7_200),
        lastTimestamp: inSeconds(-7_200),
      },
      {
        scope: 'health',
        claims: ['insurer', 'plans'],
        provider: 'Meridian Health',
        firstTimestamp: inSeconds(-9_000),
        lastTimestamp: inSeconds(-9_000),
      },
    ],
  }),
  {
    ...grant('board', 'Board', ['openid'], {
      audiences: [
        {
          name: 'billing',
          displayName: 'Billing',
          operatedBy: 'Example Accounting Ltd.',
          scopes: [{ name: 'invoices.read', title: 'Read invoices' }],
        },
      ],
    }),
    spec: { scopes: ['openid'], audiences: [{ name: 'billing', scopes: ['invoices.read'] }] },
  },
];

/** A recovery in phase Waiting. */
export const recovery = (status: Partial<Recovery['status']> = {}): Recovery => ({
  apiVersion,
  kind: 'Recovery',
  metadata: metadata(`${me}-r1`, 3_600),
  spec: {},
  status: {
    account: me,
    phase: 'Waiting',
    startedBy: 'Person',
    startedFrom: 'Firefox on Linux',
    startedTimestamp: inSeconds(-3_600),
    halfwayTimestamp: inSeconds(day - 3_600),
    readyTimestamp: inSeconds(2 * day - 3_600),
    ...status,
  },
});

/** A request to a claims provider, `hours` ago. */
export const review = (
  hours: number,
  outcome: ClaimsReview['status']['outcome'],
  spec: Partial<ClaimsReview['spec']> = {},
): ClaimsReview => ({
  apiVersion,
  kind: 'ClaimsReview',
  metadata: metadata(`${me}-r${hours}`, hours * 3_600),
  spec: {
    account: me,
    client: 'lantern',
    provider: 'meridian',
    scopes: ['health'],
    purpose: 'Release',
    ...spec,
  },
  status: {
    outcome,
    claims: ['insurer'],
    durationMilliseconds: 40,
    timestamp: inSeconds(-hours * 3_600),
  },
});

/** One request of each outcome. */
export const reviews = (): ClaimsReview[] => [
  review(1, 'Answered', { purpose: 'Preview' }),
  review(2, 'TimedOut'),
  review(30, 'Failed'),
  review(60, 'Refused'),
];
