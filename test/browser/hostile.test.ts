import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { authorizationPath, mailTo } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { type Notes, startNotes } from './support/notes.js';
import { closeBrowser, Person } from './support/person.js';

const hostile = '<img src=x onerror=globalThis.hit=1>';

/** Another site, whose pages are written by the attacker. */
async function startEvil(page: () => string): Promise<{ url: string; server: Server }> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/html' }).end(page());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

describe('what other sites and hostile names can do in a real browser', () => {
  let service: TestService;
  let notes: Notes;
  let html = '';
  let evil: { url: string; server: Server };
  beforeAll(async () => {
    service = await startTest({ flags: ['--limit-factor', '1000'] });
    notes = await startNotes(service, { displayName: hostile });
    await createClient(service, 'app');
    evil = await startEvil(() => html);
  });
  afterAll(async () => {
    evil.server.close();
    notes.stop();
    await closeBrowser();
    await stopAll();
  });

  const signIn = async (person: Person, address: string): Promise<void> => {
    await person.page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await person.page.getByRole('textbox', { name: 'Email' }).fill(address);
    await person.page.getByRole('button', { name: 'Continue with email' }).click();
    await person.page
      .getByRole('textbox', { name: 'Code' })
      .fill((await mailTo(service, address)).code);
    await person.at('Authenticated');
    await person.page.getByRole('button', { name: 'Not now' }).click();
    await person.at('ConsentRequired');
    await person.page.waitForTimeout(600);
    await person.page.getByRole('button', { name: 'Allow' }).click();
    await person.page.waitForURL(`${notes.url}/`);
  };

  test('markup in every name is inert, and no page loads anything foreign', async () => {
    const person = await Person.arrive();
    const foreign: string[] = [];
    person.page.on('request', (request) => {
      if (!request.url().startsWith(service.baseURL) && !request.url().startsWith(notes.url)) {
        foreign.push(request.url());
      }
    });
    await person.page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await person.page.getByRole('heading', { name: `Sign in to ${hostile}` }).waitFor();
    await person.page.getByRole('textbox', { name: 'Email' }).fill('hostile@example.test');
    await person.page.getByRole('button', { name: 'Continue with email' }).click();
    await person.page.getByRole('textbox', { name: 'Code' }).waitFor();
    await person.page
      .getByRole('textbox', { name: 'Code' })
      .fill((await mailTo(service, 'hostile@example.test')).code);
    await person.at('Authenticated');
    await person.page.getByRole('textbox', { name: 'Your name' }).fill(hostile);
    await person.page.getByRole('button', { name: 'Continue' }).click();
    await person.at('ConsentRequired');
    await person.page.getByText(hostile).first().waitFor();
    expect(await person.page.evaluate(() => (globalThis as any).hit)).toBeUndefined();
    expect(await person.page.locator('img').count()).toBe(0);
    const mailbox = await person.tab();
    await mailbox.goto(`${service.baseURL}/mailbox`);
    await mailbox.getByText('Your sign-in to').first().waitFor();
    expect(await mailbox.evaluate(() => (globalThis as any).hit)).toBeUndefined();
    expect(foreign).toEqual([]);
    expect(person.complaints).toEqual([]);
    await person.leave();
  });

  test('consent does nothing in the first half second, and not in a frame', async () => {
    const person = await Person.arrive();
    await person.page.goto(`${notes.url}/login`);
    await person.at('LoginRequired');
    await person.page.getByRole('textbox', { name: 'Email' }).fill('quick@example.test');
    await person.page.getByRole('button', { name: 'Continue with email' }).click();
    await person.page
      .getByRole('textbox', { name: 'Code' })
      .fill((await mailTo(service, 'quick@example.test')).code);
    await person.at('Authenticated');
    await person.page.addInitScript(() => {
      let since: number | undefined;
      const early = (): void => {
        const allow = [...document.querySelectorAll('button')].find(
          ({ textContent }) => textContent === 'Allow',
        );
        if (!allow) return;
        since ??= performance.now();
        if (performance.now() - since > 400) {
          document.body.dataset.tried = 'enough';
          return;
        }
        allow.click();
        requestAnimationFrame(early);
      };
      new MutationObserver(() => {
        if (since === undefined) early();
      }).observe(document, { childList: true, subtree: true });
    });
    await person.page.getByRole('button', { name: 'Not now' }).click();
    await person.page.locator('body[data-tried]').waitFor();
    await person.at('ConsentRequired');
    expect(new URL(person.page.url()).pathname).toMatch(/^\/interaction\//);
    html = `<iframe src="${person.page.url()}"></iframe>`;
    const other = await person.tab();
    await other.goto(evil.url);
    await other.waitForTimeout(500);
    expect(
      await other
        .frames()[1]!
        .evaluate(() => (globalThis as any).document.querySelector('main'))
        .catch(() => null),
    ).toBeNull();
    await person.leave();
  });

  test('navigations from another site change nothing', async () => {
    const person = await Person.arrive();
    await signIn(person, 'a8@example.test');
    await person.page.goto(`${notes.url}/login?prompt=login`);
    await person.at('LoginRequired');
    const interaction = person.page.url().replace('/interaction/', '/api/v1beta1/interactions/');
    html = `<a id=go href="${interaction}">go</a>`;
    const other = await person.tab();
    await other.goto(evil.url);
    await other.click('#go');
    await person.at('LoginRequired', other);
    html = `<form id=f method=post action="${interaction}/emailchallenge" enctype="text/plain"><input name='{"spec":{"email":"a@example.test"},"x":"' value='"}'></form><script>f.submit()</script>`;
    await other.goto(evil.url);
    await other.waitForURL(`${interaction}/emailchallenge`);
    expect(await other.textContent('body')).toContain('"code":403');
    const query = new URL(
      authorizationPath('app', 'openid email', 'v'.repeat(43)),
      service.baseURL,
    );
    html = `<form id=f method=post action="${service.baseURL}/oauth2/auth">${[...query.searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`).join('')}</form><script>f.submit()</script>`;
    await other.goto(evil.url);
    await person.at('ConsentRequired', other);
    await other.getByRole('heading', { name: 'app app asks for access' }).waitFor();
    html = `<a id=go href="${service.baseURL}/oauth2/logout">go</a>`;
    await other.goto(evil.url);
    await other.click('#go');
    await other.getByRole('button', { name: /sign out/i }).waitFor();
    await person.page.goto(`${notes.url}/login`);
    await person.page.waitForURL(`${notes.url}/`); // still signed in
    await person.leave();
  });
});
