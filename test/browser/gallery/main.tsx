import { render } from 'preact';
import { token } from '../../../ui/signin/store/token.js';
import '../../../ui/style/style.css';
import '../../../ui/style/decisions.css';
import '../../../ui/style/cedar.css';
import '../../../ui/style/policy.css';
import '../../../ui/style/frame.css';
import '../../../ui/style/account.css';
import { AccountPage } from '../../../ui/account/account-page.js';
import { mountPoint } from '../../../ui/base/page.js';
import { addMessages, languages, storePreference } from '../../../ui/base/text/i18n.js';
import { InvitationPage } from '../../../ui/invitation/invitation-page.js';
import { Mailbox } from '../../../ui/mailbox/mailbox.js';
import { PolicyPage } from '../../../ui/policy/policy-page.js';
import { RecoveryPage } from '../../../ui/recovery/recovery-page.js';
import { openSignIn } from '../../../ui/signin/start.js';
import { accessScenes } from './access-scenes.js';
import { accountScenes, hostileAccountScenes } from './account-scenes.js';
import { FakeAPI } from './fake-api.js';
import { hostileScenes, laterScenes, mailboxScenes } from './later-scenes.js';
import { hostilePolicyScenes, policyScenes } from './policy-scenes.js';
import { accented, english, mirrored } from './pseudo.js';
import { recoveryScenes } from './recovery-scenes.js';
import { signinScenes } from './signin-scenes.js';

declare global {
  var stage: { api: FakeAPI } | undefined;
}

const scenes = {
  ...signinScenes,
  ...laterScenes,
  ...mailboxScenes,
  ...hostileScenes,
  ...policyScenes,
  ...hostilePolicyScenes,
  ...accountScenes,
  ...recoveryScenes,
  ...accessScenes,
  ...hostileAccountScenes,
};
const query = new URLSearchParams(location.search);

/** Waits until the view is ready for input. */
const viewReady = (): Promise<void> =>
  new Promise((resolve) => {
    const seen = new MutationObserver(() => {
      if (!document.querySelector('main')?.dataset.phase) return;
      seen.disconnect();
      resolve();
    });
    seen.observe(document, { subtree: true, childList: true, attributes: true });
  });

/** Shows a scene. Resolves when its state is reached. */
async function show(name: string): Promise<void> {
  const scene = scenes[name]!();
  const api = new FakeAPI(scene.script);
  api.delay = Number(query.get('delay') ?? 0);
  api.install();
  globalThis.stage = { api };
  const ready = viewReady();
  if (scene.fragment && !location.hash) history.replaceState(null, '', `#${scene.fragment}`);
  if (scene.search) history.replaceState(null, '', `?${scene.search}${location.hash}`);
  if (scene.page === 'account') {
    render(<AccountPage />, mountPoint());
  } else if (scene.page === 'policy') {
    render(<PolicyPage />, mountPoint());
  } else if (scene.page === 'invitation') {
    render(<InvitationPage />, mountPoint());
  } else if (scene.page === 'recovery') {
    render(<RecoveryPage />, mountPoint());
  } else if (scene.page === 'mailbox') {
    render(<Mailbox />, mountPoint());
  } else {
    await openSignIn(query.get('tabs') ?? name, token ?? scene.token);
  }
  if (
    ![scene.script.GET, scene.script['GET policies'], scene.script['GET accounts/~']].includes(
      'never',
    )
  ) {
    await ready;
  }
  await api.settled();
  if (!query.has('still')) await scene.act?.(document);
  await api.settled();
  document.documentElement.dataset.scene = name;
}

function Index() {
  return (
    <main>
      <div class="card wide">
        <h1>Gallery</h1>
        <p class="lead">
          Every view in every state. In another language: ?lang=en-XA (long), ?lang=ar-XB (right to
          left).
        </p>
        <ul>
          {Object.keys(scenes).map((name) => (
            <li key={name}>
              <a href={`/gallery/${name}`}>{name}</a>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}

addMessages(english);
languages
  .set('en-XA', { name: 'Accented', form: '', load: async () => ({ catalog: accented }) })
  .set('ar-XB', { name: 'Mirrored', form: '', load: async () => ({ catalog: mirrored }) });
const lang = query.get('lang');
if (lang) storePreference(lang);
const name = location.pathname.split('/')[2] ?? '';
if (name in scenes) {
  void show(name);
} else {
  render(
    name ? (
      <main>
        <h1>{name}</h1>
      </main>
    ) : (
      <Index />
    ),
    mountPoint(),
  );
}
