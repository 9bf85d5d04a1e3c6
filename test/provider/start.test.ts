import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Runs a module of TypeScript in a process of its own and gives what it printed. */
function printed(script: string): { out: string; err: string } {
  const run = spawnSync(
    process.execPath,
    ['--import', './test/provider/support/typescript.mjs', '--input-type=module', '-e', script],
    {
      cwd: process.cwd(),
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  return { out: run.stdout, err: run.stderr };
}

const notices = (text: string): string[] =>
  text.split('\n').filter((line) => /oidc-provider|NOTICE|WARNING|Error/.test(line));

test('a start, a sign-in and a sign-out print no notice of the library', () => {
  const { out, err } = printed(`
    import { createServer } from 'node:http';
    const { House, until } = await import('./test/provider/support/fixture.ts');
    const { Browser } = await import('./test/provider/support/browser.ts');
    const listener = createServer((request, response) => { listener.notified = true; response.end() });
    await new Promise((done) => listener.listen(0, '127.0.0.1', done));
    const house = await House.open();
    await house.client('shop', { backchannelLogoutURI: 'http://localhost:' + listener.address().port });
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const query = new URLSearchParams({ client_id: 'shop', response_type: 'code', scope: 'openid email', redirect_uri: 'https://rp.example.test/cb', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' });
    const back = await browser.authorize('/oauth2/auth?' + query, { account });
    for (const path of ['/oauth2/device', '/oauth2/logout', '/oauth2/auth', '/.well-known/openid-configuration']) await browser.go(path);
    const [session] = await house.sessions(account);
    await house.endSession(session.metadata.name);
    await until(async () => listener.notified);
    await house.close();
    listener.close();
    process.stdout.write('code ' + Boolean(back.location.searchParams.get('code')) + '\\n');
  `);
  expect(out).toContain('code true');
  expect(notices(out + err)).toEqual([]);
});
