import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signIn as connect } from '../../../cmd/vestibule/client/connection/device-flow.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const inputs = (html: string): string =>
  new URLSearchParams(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  ).toString();

/** Brings a browser that is signed in from a device's address to the question for its scopes. */
async function toConsent(tab: Tab, address: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const headers = {
    accept: 'text/html',
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-site': 'same-origin',
  };
  const submitting = await tab.navigate(`${pathname}${search}`).is(200);
  const confirm = await tab
    .send('POST', '/oauth2/device', { body: inputs(submitting.bytes.toString()), headers })
    .is(200);
  const on = await tab
    .send('POST', '/oauth2/device', { body: inputs(confirm.bytes.toString()), headers })
    .is(303);
  return on.headers.location!;
}

describe.each(stores)('the command, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store });
    await createClient(service, 'app');
  });

  test('the API is what the command is for: its scope is required', async () => {
    const { tab } = await signIn(service, 'ada@example.test');
    let tell!: (words: string) => void;
    const shown = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const connected = connect({ server: service.baseURL }, (words) => tell(words));
    const I = await toConsent(tab, /Open (\S+)\n/.exec(await shown)![1]!);
    const { body } = await tab.get(I).is(200);
    const api = body.status.consent.scopes.find(({ name }: { name: string }) => name === 'api');
    expect(api).toMatchObject({ required: true, sensitive: true, preview: [] });
    expect(api.permissions).toHaveLength(3);
    const refused = await tab
      .post(`${I}/consent`, { spec: { scopes: ['openid', 'offline_access'] } })
      .fails(422, 'Invalid', 'spec.scopes');
    expect(refused.message).toContain('api');
    const agreed = await tab.post(`${I}/consent`, { spec: { scopes: ['openid', 'api'] } }).is(200);
    await tab.navigate(agreed.body.status.returnTo).is(200);
    expect((await connected).accessToken).toBeTruthy();
  });
});

describe('where devices are switched off', () => {
  test('the command says so, and signing in goes on', async () => {
    const service = await startTest({ flags: ['--device-authorization=false'] });
    await createClient(service, 'app');
    await expect(connect({ server: service.baseURL }, () => {})).rejects.toThrow(
      'operators switched off the device flow',
    );
    await begin(service);
  });
});
