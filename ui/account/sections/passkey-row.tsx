import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Passkey } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call, type ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { remainingMs } from '../../base/api/clock.js';
import type { LiveCollection } from '../../base/api/collection.js';
import { Field } from '../../base/field.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { ActionError, useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { VisuallyHidden } from '../base/visually-hidden.js';
import { useAccountContext } from '../base/account-context.js';
import { focusSection } from '../base/section.js';
import { platformName } from './platform.js';
import { signalPasskeys } from '../base/signal.js';
import { clearStep } from '../base/redirects.js';

interface Props {
  passkey: Passkey;
  last: boolean;
  isNew: boolean;
  passkeys: LiveCollection<Passkey>;
}

function Facts({ passkey: { metadata, status } }: { passkey: Passkey }) {
  const { deviceType, backedUp, authenticator, lastUsedTimestamp, fullStrengthTimestamp } = status;
  const isFullStrength = !fullStrengthTimestamp || remainingMs(fullStrengthTimestamp) <= 0;
  return (
    <>
      <p class="words">
        <span class="word">{t(`passkeys.${deviceType}`)}</span>
        {deviceType === 'multiDevice' && !backedUp && (
          <span class="word sensitive">{t('passkeys.unsaved')}</span>
        )}
      </p>
      <p class="hint">
        {authenticator.name && <>{format('passkeys.kept', { name: authenticator.name })} · </>}
        {format('passkeys.added', { when: <Timestamp of={metadata.creationTimestamp} /> })} ·{' '}
        {lastUsedTimestamp
          ? format('passkeys.used', { when: <Timestamp of={lastUsedTimestamp} /> })
          : t('passkeys.unused')}
      </p>
      {!isFullStrength && (
        <p class="hint">
          {format('passkeys.counts', { when: <Timestamp of={fullStrengthTimestamp!} /> })}
        </p>
      )}
    </>
  );
}

/** Returns the suggested name: the current one, or for a new passkey one after the platform. */
function suggestedName({ passkey: { spec }, isNew }: Props): string {
  const on = platformName();
  return isNew && spec.displayName === 'Passkey' && on
    ? t('passkeys.suggested', { platform: on })
    : spec.displayName;
}

const invalidName = ({ code }: ApiError): string | undefined =>
  code === 422 ? t('passkeys.name.invalid') : undefined;

/** Returns a ref to a form whose field gets the focus and is selected at first. */
function useSelectedField(): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.querySelector('input');
    field?.focus(); // select() alone does not focus in every browser
    field?.select();
  }, []);
  return form;
}

function RenameForm({ done, ...props }: Props & { done: () => void }) {
  const { passkey, isNew, passkeys } = props;
  const { name } = passkey.metadata;
  const [text, setText] = useState(suggestedName(props));
  const { busy, failure, run } = useAction(invalidName);
  const [empty, setEmpty] = useState(false);
  const form = useSelectedField();
  const wrong = empty || failure?.code === 422 ? t('passkeys.name.invalid') : undefined;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setEmpty(!text.trim());
    if (!text.trim()) return;
    const saved = await run(
      async () =>
        passkeys.upsert(
          await call<Passkey>('PATCH', `passkeys/${name}`, { spec: { displayName: text.trim() } }),
        ),
      `passkey-rename=${name}`,
    );
    if (!saved) return;
    announce(t('passkeys.renamed'));
    void signalPasskeys();
    done();
  };
  return (
    <form
      class="inset"
      ref={form}
      method="post"
      noValidate
      onSubmit={(event) => void submit(event)}
    >
      {isNew && <p>{t('passkeys.new')}</p>}
      <Field
        id={`name-${name}`}
        name="passkey-name"
        label={t('passkeys.name')}
        autoComplete="off"
        dir="auto"
        value={text}
        error={wrong}
        onText={(typed) => {
          setText(typed);
          setEmpty(false);
        }}
      />
      <ActionError failure={wrong ? undefined : failure} />
      <div class="pair">
        <Button variant="main" submit busy={busy} progress="saving">
          {t('save.name')}
        </Button>
        <Button onPress={done}>{t('dismiss')}</Button>
      </div>
    </form>
  );
}

const lastPasskeyError = ({ code }: ApiError): string | undefined =>
  code === 409 ? t('passkeys.required') : undefined;

function Removal({
  passkey: {
    metadata: { name },
  },
  last,
  passkeys,
  keep,
}: Props & { keep: () => void }) {
  const { account } = useAccountContext();
  const act = useAction(lastPasskeyError);
  const remove = async (): Promise<void> => {
    const gone = await act.run(() => call('DELETE', `passkeys/${name}`), `passkey-delete=${name}`);
    if (!gone) return;
    clearStep();
    passkeys.remove(name);
    announce(t('passkeys.deleted'));
    focusSection('passkeys');
    void signalPasskeys();
  };
  return (
    <Confirm
      action={act}
      errorText={act.failure && lastPasskeyError(act.failure)}
      onConfirm={remove}
      onCancel={keep}
    >
      <p>
        {last
          ? format('passkeys.delete.last', { email: <Ltr of={account.status.email.address} /> })
          : t('passkeys.delete.ask')}
      </p>
    </Confirm>
  );
}

type OpenForm = 'rename' | 'delete' | undefined;

/** Returns the form that is open at first: a new passkey is named, and a step continues. */
function initialForm(step: string | undefined, name: string, isNew: boolean): OpenForm {
  if (step === `passkey-delete=${name}`) return 'delete';
  return isNew || step === `passkey-rename=${name}` ? 'rename' : undefined;
}

/** One passkey, with its name and the forms to rename and delete it. */
export function PasskeyRow(props: Props) {
  const {
    passkey: {
      metadata: { name },
      spec: { displayName },
    },
    isNew,
  } = props;
  const { step } = useAccountContext();
  const [openForm, set] = useState(initialForm(step, name, isNew));
  const row = useRef<HTMLLIElement>(null);
  const close = (): void => {
    clearStep();
    set(undefined);
    requestAnimationFrame(() => row.current?.querySelector('button')?.focus());
  };
  useEffect(() => {
    if (isNew) set('rename');
  }, [isNew]);
  return (
    <li class="thing" ref={row}>
      <h3>
        <bdi>{displayName}</bdi>
      </h3>
      <Facts passkey={props.passkey} />
      {!openForm && (
        <p class="actions">
          <Button variant="small" onPress={() => set('rename')}>
            {format('passkeys.rename', { name: <VisuallyHidden>{displayName}</VisuallyHidden> })}
          </Button>
          <Button variant="small" onPress={() => set('delete')}>
            {format('passkeys.delete', { name: <VisuallyHidden>{displayName}</VisuallyHidden> })}
          </Button>
        </p>
      )}
      {openForm === 'rename' && <RenameForm {...props} done={close} />}
      {openForm === 'delete' && <Removal {...props} keep={close} />}
    </li>
  );
}
