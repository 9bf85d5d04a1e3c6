import type { TestService } from '../service.js';
import { type Asking, Authenticator, type Lies } from './authenticator.js';
import { type Begun, begin, mailTo, proceed } from './signin.js';
import type { Pending, Tab } from './tab.js';

/** What a browser makes of options: the challenge, on our own pages. */
export const askingOf = (service: TestService, options: any): Asking => ({
  challenge: options.challenge,
  origin: service.baseURL,
  rpID: options.rpId ?? options.rp.id,
});

/** A challenge as the API gives it. */
export async function challenge(
  tab: Tab,
  at: string,
  purpose: 'Authenticate' | 'Register',
): Promise<any> {
  return (await tab.post(`${at}/passkeychallenge`, { spec: { purpose } }).is(201)).body.status
    .options;
}

/** Registers a passkey of the person signed in at this tab. */
export async function register(
  service: TestService,
  tab: Tab,
  authenticator = new Authenticator(),
  { lies = {}, displayName }: { lies?: Lies; displayName?: string } = {},
): Promise<{ authenticator: Authenticator; answer: Pending }> {
  const options = await challenge(tab, 'accounts/~', 'Register');
  return {
    authenticator,
    answer: tab.post('passkeys', {
      spec: {
        ...(displayName && { displayName }),
        credential: authenticator.create(askingOf(service, options), lies, options.user.id),
      },
    }),
  };
}

/**
 * A new person, who signed up by mail and added a passkey while setting the account up; the notice
 * of it is in the mailbox.
 */
export async function withPasskey(
  service: TestService,
  address: string,
  authenticator = new Authenticator(),
): Promise<{ tab: Tab; authenticator: Authenticator; name: string; account: string }> {
  const { tab, I } = await authenticated(service, address);
  await service.tab().delete('mockmessages').is(200);
  const options = await challenge(tab, I, 'Register');
  const { body } = await tab
    .post(`${I}/passkeys`, {
      spec: { credential: authenticator.create(askingOf(service, options), {}, options.user.id) },
    })
    .is(201);
  await mailTo(service, address);
  await proceed(tab, (await tab.get(I).is(200)).body.status.returnTo);
  return { tab, authenticator, name: body.metadata.name, account: body.status.account };
}

/** The same, then signed in by that passkey, as one has to be to change how one signs in. */
export async function signedInByPasskey(
  service: TestService,
  address: string,
  authenticator = new Authenticator(),
): ReturnType<typeof withPasskey> {
  const person = await withPasskey(service, address, authenticator);
  await service.tab().delete('mockmessages').is(200);
  const { tab } = await signInByPasskey(service, person.authenticator);
  return { ...person, tab };
}

/** What a tab sends to sign in by passkey to a challenge that it asks for. */
export async function assertion(
  service: TestService,
  { tab, I }: Begun,
  authenticator: Authenticator,
  lies: Lies = {},
): Promise<unknown> {
  const options = await challenge(tab, I, 'Authenticate');
  return {
    spec: { method: 'Passkey', credential: authenticator.get(askingOf(service, options), lies) },
  };
}

/** Begins a sign-in and answers it by passkey; what was sent and what came of it. */
export async function passkeyLogin(
  service: TestService,
  authenticator: Authenticator,
  options: Parameters<typeof begin>[1] & { lies?: Lies } = {},
): Promise<{ begun: Begun; sent: unknown; answer: Pending }> {
  const begun = await begin(service, options);
  const sent = await assertion(service, begun, authenticator, options.lies);
  return { begun, sent, answer: begun.tab.post(`${begun.I}/login`, sent) };
}

/** Signs in by passkey all the way to the Client. */
export async function signInByPasskey(
  service: TestService,
  authenticator: Authenticator,
  options: Parameters<typeof begin>[1] = {},
): Promise<Begun & { callback: URL }> {
  const { begun, answer } = await passkeyLogin(service, authenticator, options);
  const { body } = await answer.is(200);
  return { ...begun, callback: await proceed(begun.tab, body.status.returnTo) };
}

/** A sign-in by mail that stands in phase Authenticated. */
export async function authenticated(service: TestService, address: string): Promise<Begun> {
  const begun = await begin(service);
  await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
  const { code } = await mailTo(service, address, [], (mail) => mail.code !== undefined);
  await begun.tab.post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
  return begun;
}
