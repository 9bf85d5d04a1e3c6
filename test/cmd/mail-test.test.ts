import { afterEach, expect, test } from '@jest/globals';
import { vestibule } from '../support/command.js';
import { Inbox } from '../support/people/inbox.js';

const address = ['mail', 'test', 'ada@example.test', '--data-dir', 'data'];
const command = [...address, '--email-from', 'sign-in@example.test'];
const inboxes: Inbox[] = [];
afterEach(() => Promise.all(inboxes.splice(0).map((inbox) => inbox.close())));

/** Runs the command against a server that gives this answer. */
async function run(answer?: Error) {
  const inbox = new Inbox({}, () => answer);
  inboxes.push(inbox);
  const url = await inbox.listen();
  const ran = await vestibule([...command, '--smtp-url', url], {});
  return { inbox, host: new URL(url).host, ...ran };
}

test('sends one mail and says what the server answered', async () => {
  const { inbox, host, code, out } = await run();
  expect(out).toMatch(
    `${host} accepted the mail from sign-in@example.test to ada@example.test: 250 `,
  );
  expect(code).toBe(0);
  expect(inbox.received).toMatchObject([
    { from: 'sign-in@example.test', to: ['ada@example.test'] },
  ]);
});

test('ends with 1 and the words of a server that refuses it', async () => {
  const refusal = Object.assign(new Error('5.7.1 no relaying'), { responseCode: 554 });
  const { host, code, error } = await run(refusal);
  expect(error).toBe(
    `vestibule: ${host} did not accept the mail to ada@example.test: 554 5.7.1 no relaying\n`,
  );
  expect(code).toBe(1);
});

test('ends with 1 where no server listens, and with 2 for wrong usage', async () => {
  const away = await vestibule([...command, '--smtp-url', 'smtp://127.0.0.1:1'], {});
  expect(away).toMatchObject({ code: 1, error: expect.stringContaining('ECONNREFUSED') });
  expect(await vestibule([...address, '--mock-mail'], {})).toMatchObject({
    code: 2,
    error: expect.stringContaining('there is no mail server'),
  });
  expect(await vestibule(['mail', 'test', 'ada'], {})).toMatchObject({ code: 2 });
});
