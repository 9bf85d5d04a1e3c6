import type { EmailChallenge } from '../../api.js';
import type { MessageID } from '../../messages/catalog.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { clockTime, Ltr, t, format } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import { inGroups } from '../../base/passkeys/code.js';
import { useTypedCode } from '../../base/passkeys/use-typed-code.js';
import type { SignInStore } from '../store/sign-in-store.js';
import { MailboxLink } from './mailbox-link.js';
import { Resend } from './resend.js';

const isSpent = (store: SignInStore): boolean =>
  store.problem?.action === 'login' &&
  (store.problem.failure.code === 410 || store.problem.failure.details.triesLeft === 0);

/** Returns what is wrong with the code, in the browser or by the last response. */
function codeError(
  { problem }: SignInStore,
  isMalformed: boolean,
  { codeLength, triesLeft }: EmailChallenge,
): string | undefined {
  if (isMalformed) return t('code.shape', { digits: codeLength, tries: triesLeft });
  return problem?.action === 'login' && problem.inField ? problem.text : undefined;
}

function CodeForm({ store, challenge }: { store: SignInStore; challenge: EmailChallenge }) {
  const { expirationTimestamp, codeLength } = challenge;
  const { code, isMalformed, send, take } = useTypedCode(
    store.challengeKey,
    codeLength,
    (typed) => void store.act('login', { spec: { method: 'EmailCode', code: typed } }),
  );
  const error = codeError(store, isMalformed, challenge);
  return (
    <form
      method="post"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send(code);
      }}
    >
      <Field
        id="code"
        name="code"
        label={t('code.label')}
        type="text"
        inputMode="numeric"
        autoComplete="one-time-code"
        dir="ltr"
        class="code"
        spellcheck={false}
        value={inGroups(code, codeLength)}
        error={error}
        keepFocus={isSpent(store)}
        hint={!isSpent(store) && format('code.until', { time: clockTime(expirationTimestamp) })}
        onText={take}
      />
      <Button variant="main" submit busy={store.busy === 'login'} progress="code.checking">
        {t('code.go')}
      </Button>
    </form>
  );
}

const help: readonly MessageID[] = ['code.help.spam', 'code.help.spelling', 'code.help.wait'];

function Help() {
  return (
    <details>
      <summary>{t('code.help')}</summary>
      <ul>
        {help.map((id) => (
          <li key={id}>{t(id)}</li>
        ))}
      </ul>
    </details>
  );
}

/** Returns the message about the email: that it failed, or what it contains. */
function emailMessage(
  { deliveryState: state }: EmailChallenge,
  methods: readonly string[],
): MessageID {
  if (state) return state === 'Deferred' ? 'code.deferred' : 'code.failed';
  if (!methods.includes('EmailCode')) return 'code.sent.link';
  return methods.includes('EmailLink') ? 'code.sent' : 'code.sent.code';
}

/** The second view: the code from the email, or another email. */
export function CodeView({ store }: { store: SignInStore }) {
  const { phase, methods = ['EmailCode', 'EmailLink'], emailChallenge } = store.interaction!.status;
  const challenge = emailChallenge!;
  const { deliveryState: state, sender = '…' } = challenge;
  return (
    <View title="code.title" phase={phase} error={Boolean(store.problem)}>
      <p class={state ? 'error' : 'lead'} aria-live="polite">
        {format(emailMessage(challenge, methods), {
          email: <Ltr of={challenge.email} strong />,
          from: <Ltr of={sender} />,
        })}
      </p>
      {methods.includes('EmailCode') && <CodeForm store={store} challenge={challenge} />}
      <div class="ways">
        <Resend store={store} challenge={challenge} wanted={isSpent(store)} />
        <Button onPress={() => store.restart()}>{t('code.other')}</Button>
      </div>
      <Help />
      <MailboxLink />
    </View>
  );
}
