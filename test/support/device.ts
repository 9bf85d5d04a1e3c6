import { signIn } from '../../cmd/vestibule/client/device-flow.js';
import type { Tab } from './tab.js';

const inputs = (html: string): string =>
  new URLSearchParams(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  ).toString();

/** What a person does in the browser with the address that the command printed. */
export async function confirm(tab: Tab, address: string): Promise<void> {
  const { pathname, search } = new URL(address);
  const send = (body: string) =>
    tab.send('POST', '/oauth2/device', {
      body,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-site': 'same-origin',
        origin: tab.origin,
      },
    });
  let page = await tab.navigate(`${pathname}${search}`).is(200);
  const form = (): string => inputs(page.bytes.toString());
  for (let steps = 0; page.code === 200 && form() !== ''; steps += 1) {
    if (steps === 2) throw new Error('the page asks again');
    page = await send(form());
  }
  for (let to = page.headers.location; to; ) {
    if (to.startsWith('/api/')) {
      const { body } = await tab.get(to).is(200);
      to = (
        await tab
          .post(`${to}/consent`, {
            spec: { scopes: body.status.consent.scopes.map((one: any) => one.name) },
          })
          .is(200)
      ).body.status.returnTo as string;
    } else to = (await tab.navigate(to)).headers.location;
  }
}

/** The access token of anyone who is signed in in `tab`, by the device flow of the command. */
export async function tokenOf(service: { readonly baseURL: string }, tab: Tab): Promise<string> {
  let confirmed: Promise<void> | undefined;
  const { accessToken } = await signIn({ server: service.baseURL }, (words) => {
    confirmed = confirm(tab, /Open (\S+)\n/.exec(words)![1]!);
  });
  await confirmed;
  return accessToken!;
}
