import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import { refusalMessage, refusalTexts } from '../../registry/authorizer.js';
import type { Call, Decision, ObjectOf } from '../../registry/kind.js';
import { forbidden } from '../../registry/status/status.js';
import { mayRequest } from '../access/accessrequest/access-request.js';
import { apiVersion } from '../api-version.js';
import { Client } from '../apps/client/client.js';
import { Account } from '../people/account/account.js';
import { accountFacts, sessionFacts, signedInNow } from '../people/account/policy-facts.js';
import { Session } from '../people/session/session.js';
import type { AccountCaller } from '../signin/caller.js';
import { statusTexts } from '../signin/schema-types.js';

/** The most Clients that one menu is made of, by name. */
const maxClients = 200;

/**
 * After so many Clients other requests get their turn, and after one that is refused, which may have
 * been explained: some rules are evaluated each time.
 */
const clientsPerTurn = 20;

const App = z.object({
  client: z.string().describe('The Client.'),
  displayName: z.string().describe('Its display name.'),
  displayNames: statusTexts('Its display name'),
  logoURI: z.string().optional().describe('Logo.'),
  access: z
    .enum(['Allowed', 'SignInAgain', 'PasskeyRequired', 'Refused'])
    .describe(
      'What policy answers. SignInAgain: a new sign-in is enough. PasskeyRequired: a passkey would ' +
        'be enough, and the account has none.',
    ),
  startURI: z
    .string()
    .optional()
    .describe(
      'Starts the app, if access is Allowed or SignInAgain: initiateLoginURI with the parameter iss, or else homepageURI.',
    ),
  reason: z.string().optional().describe('Why policy refuses it, unless access is Allowed.'),
  reasons: statusTexts('The reason'),
  requestableGroups: z
    .array(z.string())
    .optional()
    .describe(
      'The Groups with which policy would permit it and that the person may request access to; ' +
        'absent unless access is Refused.',
    ),
});
type App = z.infer<typeof App>;

const AccountApps = z.object({
  apiVersion: z.string().describe('Group and version.'),
  kind: z.literal('AccountApps').describe('The kind.'),
  items: z.array(App).max(maxClients).describe('The apps, in the order of their Clients’ names.'),
});

type ClientObject = ObjectOf<typeof Client>;
type PersonFacts = Awaited<ReturnType<typeof accountFacts>>;

/**
 * GET accounts/<name>/apps: returns the apps that the caller may sign in to, and those refused that
 * are shown to everyone (docs/design/api.md#app-menu). Policy answers for the session that asks.
 * Nothing is recorded, and the sign-in itself decides again.
 */
export const apps = defineAction({
  of: Account,
  subresource: 'apps',
  verb: 'get',
  kind: 'AccountApps',
  answers: { kind: 'AccountApps', schema: AccountApps },
  description: 'Returns the apps that the person may sign in to.',
  async run(call, account) {
    const { name } = account.metadata;
    const { caller } = call;
    if (caller.type !== 'Account' || caller.account !== name) {
      throw forbidden('only the person themselves may see their apps', Account, name);
    }
    const facts = await factsOf(call, account, caller);
    const clients = (await call.store(Client).list())
      .filter(({ spec }) => spec.appMenu !== 'NoOne' && hasStart(spec))
      .slice(0, maxClients);
    const items: App[] = [];
    for (const [i, client] of clients.entries()) {
      const app = await appOf(call, client, facts);
      if (app.access === 'Refused' || i % clientsPerTurn === 0) await yieldToEventLoop();
      if (app.startURI !== undefined || isListed(client)) items.push(app);
    }
    return { apiVersion, kind: 'AccountApps', items };
  },
});

/**
 * Returns the facts of the person and the sign-in behind the request, as an app's sign-in sees them: a
 * passkey that was added in the session counts at this API alone.
 */
async function factsOf(
  call: Call,
  account: ObjectOf<typeof Account>,
  { session: name, methods = [], assurance = '', authenticated = 0 }: AccountCaller,
): Promise<PersonFacts> {
  const session = name === undefined ? undefined : await call.store(Session).cached(name);
  if (session) return sessionFacts(call, account, session);
  const { metadata, status } = account;
  return accountFacts(
    call,
    { account: metadata.name, address: status.email.address, passkeys: status.passkeys },
    { methods, assurance, authenticated },
  );
}

const hasStart = ({ initiateLoginURI, homepageURI }: ClientObject['spec']): boolean =>
  (initiateLoginURI ?? homepageURI) !== undefined;

/** Returns where the app starts (OpenID Connect Core §4), or undefined without such an address. */
function startOf(
  { initiateLoginURI, homepageURI }: ClientObject['spec'],
  issuer: string,
): string | undefined {
  if (initiateLoginURI === undefined) return homepageURI;
  const start = new URL(initiateLoginURI);
  start.searchParams.set('iss', issuer);
  return start.href;
}

async function appOf(call: Call, client: ClientObject, facts: PersonFacts): Promise<App> {
  const { spec, metadata } = client;
  const { displayName, displayNames, logoURI } = spec;
  const decision = await decideSignIn(call, client, facts);
  const { access, groups = [] } = decision.allowed
    ? { access: 'Allowed' as const }
    : await accessBySignIn(call, client, facts);
  const canStart = access === 'Allowed' || access === 'SignInAgain';
  return {
    client: metadata.name,
    displayName,
    ...(displayNames && { displayNames }),
    ...(logoURI !== undefined && { logoURI }),
    access,
    ...(canStart && { startURI: startOf(spec, call.settings.baseURL) }),
    ...(!decision.allowed && {
      reason: refusalMessage(decision),
      reasons: refusalTexts(decision),
    }),
    ...(groups.length > 0 && {
      requestableGroups: await where(groups, (group) => mayRequest(call, group)),
    }),
  };
}

/**
 * Returns whether another sign-in would be enough. As for a sign-in, the strongest one decides
 * whether to ask for one at all (docs/design/provider.md#added-prompts).
 */
async function accessBySignIn(
  call: Call,
  client: ClientObject,
  facts: PersonFacts,
): Promise<{ access: App['access']; groups?: readonly string[] | undefined }> {
  const { passkeys } = facts;
  const factsAfter = (method: 'EmailCode' | 'Passkey', count: number): PersonFacts => ({
    ...facts,
    ...signedInNow(method, call.now),
    signedInRecently: true,
    passkeys: count,
  });
  const byPasskey = factsAfter('Passkey', Math.max(1, passkeys));
  const strongest = await decideSignIn(
    call,
    client,
    byPasskey,
    isListed(client) ? ['Group'] : undefined,
  );
  if (!strongest.allowed) {
    return {
      access: 'Refused',
      groups: await where(strongest.groups ?? [], (group) =>
        mayWithGroup(call, client, byPasskey, group),
      ),
    };
  }
  const byCode = () => decideSignIn(call, client, factsAfter('EmailCode', 0));
  if (passkeys > 0 || (await byCode()).allowed) return { access: 'SignInAgain' };
  return { access: 'PasskeyRequired' };
}

/**
 * Returns whether a member of one more Group could sign in: what would permit the refused action need
 * not permit the others.
 */
async function mayWithGroup(
  call: Call,
  client: ClientObject,
  facts: PersonFacts,
  group: string,
): Promise<boolean> {
  const groups = [...facts.groups, group];
  const caller = { ...call.caller, groups };
  return (await decideSignIn(call, client, { ...facts, caller, groups })).allowed;
}

/** Returns the names that a decision permits. */
async function where(
  names: readonly string[],
  decide: (name: string) => Promise<boolean>,
): Promise<string[]> {
  const decisions = await Promise.all(names.map(decide));
  return names.filter((_, i) => decisions[i]);
}

/** Reports whether a Client is shown to those whom policy refuses. */
const isListed = ({ spec }: ClientObject): boolean => spec.appMenu === 'Everyone';

/** Returns the decision about a sign-in, which is refused too if `openid` may not be shared. */
async function decideSignIn(
  call: Call,
  { metadata, spec }: ClientObject,
  facts: PersonFacts,
  explain?: readonly string[],
): Promise<Decision> {
  const about = { ...facts, client: metadata.name, explain };
  const signIn = await call.decideQuietly('signIn', about);
  return signIn.allowed && spec.scopes.some(({ name }) => name === 'openid')
    ? call.decideQuietly('share', { ...about, scope: 'openid' })
    : signIn;
}
