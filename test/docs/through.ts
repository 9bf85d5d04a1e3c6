import { mailTo, proceed, type Reached } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';

/**
 * Goes to the address that an application sends a browser to, signs in there by emailed code,
 * agrees to all that is asked, and answers where it leads back to.
 */
export async function signInAt(
  service: Reached,
  address: string,
  email: string,
  tab: Tab = service.tab(),
): Promise<URL> {
  const { headers } = await tab.navigate(address).is(303);
  const I = headers.location!;
  if (!I.startsWith('/api/')) return new URL(I);
  await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
  const { code } = await mailTo(service, email);
  await service.tab().delete('mockmessages').is(200);
  const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
  return proceed(tab, body.status.returnTo);
}

/** Goes there and cancels. */
export async function cancelAt(
  service: Reached,
  address: string,
  tab: Tab = service.tab(),
): Promise<URL> {
  const { headers } = await tab.navigate(address).is(303);
  const { body } = await tab.delete(headers.location!).is(200);
  return new URL((await tab.navigate(body.status.returnTo).is(303)).headers.location!);
}
