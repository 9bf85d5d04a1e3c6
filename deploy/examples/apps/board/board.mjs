import * as oidc from 'openid-client';

const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
const [issuer, client] = [new URL(meta('issuer')), meta('client')];
const home = `${location.origin}/`;
const scope = 'openid profile email groups membership dues';

/** The notices of the board, each with the group that sees it. */
const notices = [
  { text: 'The wall is closed on Monday for new routes.' },
  { text: 'Found: one left climbing shoe, size 41.' },
  { text: 'Editors meet on Thursday at seven.', group: 'editors' },
];

const main = document.getElementById('main');
const element = (name, content = [], more = {}) => {
  const made = Object.assign(document.createElement(name), more);
  made.append(...[content].flat());
  return made;
};
const button = (text, press, more) => element('button', text, { onclick: press, ...more });
const show = (...content) => main.replaceChildren(...content);
const text = (value) => {
  if (Array.isArray(value)) return value.join(', ');
  if (value === true) return 'yes';
  return value === false ? 'no' : String(value);
};

/** Begins a sign-in. The values to check the answer with stay in this tab. */
async function signIn(config, prompt) {
  const begun = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  sessionStorage.setItem('begun', JSON.stringify(begun));
  location.assign(
    oidc.buildAuthorizationUrl(config, {
      redirect_uri: home,
      scope,
      state: begun.expectedState,
      nonce: begun.expectedNonce,
      ...(prompt && { prompt }),
      code_challenge: await oidc.calculatePKCECodeChallenge(begun.pkceCodeVerifier),
      code_challenge_method: 'S256',
    }),
  );
}

/**
 * Completes a sign-in: redeems the code, verifies the ID token and fetches userinfo. Stores nothing
 * outside this page.
 */
async function finish(config) {
  const [url, begun] = [
    new URL(location.href),
    JSON.parse(sessionStorage.getItem('begun') ?? 'null'),
  ];
  sessionStorage.removeItem('begun');
  history.replaceState(null, '', '/');
  if (!begun) return welcome(config, 'This sign-in was not started here.');
  const tokens = await oidc.authorizationCodeGrant(config, url, begun);
  const claims = tokens.claims();
  board(config, tokens, await oidc.fetchUserInfo(config, tokens.access_token, claims.sub));
}

function welcome(config, trouble) {
  show(
    element('h2', 'What’s from the club'),
    ...(trouble ? [element('p', trouble, { role: 'alert' })] : []),
    element('p', 'Sign in to see the notices for you.'),
    button('Sign in', () => signIn(config), { className: 'primary' }),
  );
}

function board(config, tokens, { sub, groups = [], ...claims }) {
  const rows = Object.entries(claims).map(([name, value]) =>
    element('tr', [element('th', name, { scope: 'row' }), element('td', text(value))]),
  );
  document.getElementById('who').replaceChildren(
    button('Sign out', () =>
      location.assign(
        oidc.buildEndSessionUrl(config, {
          id_token_hint: tokens.id_token,
          post_logout_redirect_uri: home,
        }),
      ),
    ),
  );
  show(
    element('h2', `Hello ${claims.name ?? 'member'}`),
    element(
      'ul',
      notices
        .filter(({ group }) => !group || groups.includes(group))
        .map((notice) => element('li', notice.text)),
    ),
    element('h3', 'Your groups'),
    groups.length > 0
      ? element(
          'ul',
          groups.map((group) => element('li', group)),
          { id: 'groups' },
        )
      : element('p', 'No groups were shared with this page.', { className: 'quiet' }),
    element('h3', 'What you agreed to share'),
    element('p', `${tokens.scope}`, { className: 'quiet' }),
    element('table', rows),
    element('p', `You are known here as ${sub}.`, { className: 'quiet' }),
    button('Change what you share', () => signIn(config, 'consent')),
  );
}

const insecure = issuer.protocol === 'http:' ? { execute: [oidc.allowInsecureRequests] } : {};
try {
  const config = await oidc.discovery(issuer, client, undefined, oidc.None(), insecure);
  const { searchParams } = new URL(location.href);
  if (searchParams.has('code') || searchParams.has('error')) {
    await finish(config).catch((error) =>
      welcome(config, `You are not signed in: ${error.error ?? error.message}.`),
    );
  } else {
    welcome(config);
  }
} catch (error) {
  show(
    element('h2', 'Something went wrong'),
    element('p', error.error ?? error.message, { role: 'alert' }),
    button('Try again', () => location.assign('/')),
  );
}
