import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account, NewAddress, Session } from '../../api.js';
import type { MessageID } from '../../messages/catalog.js';
import { announce } from '../../base/live-region.js';
import { call, type ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import type { readAddress } from '../../base/passkeys/address.js';
import { certainWaitMs } from '../../base/api/clock.js';
import { inGroups } from '../../base/passkeys/code.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { Status } from '../../base/status.js';
import { clockTime, relativeTime, Ltr, t, format } from '../../base/text/message.js';
import { useRemaining } from '../../base/api/use-remaining.js';
import { useTypedCode } from '../../base/passkeys/use-typed-code.js';
import type { Request } from '../../base/api/use-request.js';
import { ActionError, useAction } from '../base/use-action.js';
import { useAccountContext } from '../base/account-context.js';
import { signalPasskeys } from '../base/signal.js';

const step = 'email';

type DeliveryState = Session['status']['emailDeliveryState'];

function AddressForm({
  act,
  read,
  onSent,
  onCancel,
}: {
  act: Request;
  read: typeof readAddress;
  onSent: (challenge: NewAddress) => void;
  onCancel: () => void;
}) {
  const [email, setEmail] = useState('');
  const [fault, setFault] = useState<MessageID>();
  const wrong = act.failure?.code === 422 ? t('address.invalid') : undefined;
  const submit = (): void => {
    const typed = email.trim() ? read(email) : { fault: 'address.empty' as const };
    if ('fault' in typed) return setFault(typed.fault);
    setFault(undefined);
    void act.run(
      async () =>
        onSent(await call<NewAddress>('POST', 'accounts/~/emailchallenge', { spec: typed })),
      step,
    );
  };
  return (
    <Form look="inset" onSubmit={submit}>
      <Field
        id="new-email"
        name="email"
        type="email"
        label={t('address.new')}
        autoComplete="email"
        inputMode="email"
        autoCapitalize="none"
        spellcheck={false}
        dir="ltr"
        hint={t('address.note')}
        value={email}
        error={fault ? t(fault) : wrong}
        onText={(text) => {
          setEmail(text);
          setFault(undefined);
        }}
      />
      <ActionError failure={wrong ? undefined : act.failure} />
      <div class="pair">
        <Button variant="main" submit busy={act.busy} progress="address.sending">
          {t('address.send')}
        </Button>
        <Button onPress={onCancel}>{t('dismiss')}</Button>
      </div>
    </Form>
  );
}

/** Says where the code was sent, or that it was not. */
function DeliveryMessage({
  challenge: { spec, status },
  state,
}: {
  challenge: NewAddress;
  state: DeliveryState;
}) {
  const failure = state === 'Deferred' ? 'address.deferred' : 'address.failed';
  return (
    <Status look={state && 'error'}>
      {format(state ? failure : 'address.sent', {
        email: <Ltr of={spec.email} strong />,
        from: <Ltr of={status.sender ?? '…'} />,
        time: clockTime(status.expirationTimestamp),
      })}
    </Status>
  );
}

/** Returns the text for a code that was not accepted. */
function wrongCode({ code, details }: ApiError): string | undefined {
  if (code === 410) return t(details.triesLeft ? 'address.replaced' : 'address.over');
  if (code === 409) return t('address.taken');
  if (code !== 422) return undefined;
  if (details.triesLeft === undefined) return undefined;
  return details.triesLeft ? t('address.wrong', { tries: details.triesLeft }) : t('address.none');
}

/** Announces a new code: the focus does not move, so that nothing interrupts this. */
function useNewCodeAnnouncement({ sentTimestamp }: NewAddress['status']): void {
  const known = useRef(sentTimestamp);
  useEffect(() => {
    if (known.current !== sentTimestamp) announce(t('address.resent'));
    known.current = sentTimestamp;
  }, [sentTimestamp]);
}

interface WaysProps {
  /** Milliseconds until another code may be requested. */
  left: number;
  resend: () => void;
  onOtherAddress: () => void;
}

/** The choices without the code: another code or another address. */
function OtherWays({ left, resend, onOtherAddress }: WaysProps) {
  return (
    <div class="ways">
      <Button disabled={left > 0} onPress={resend}>
        {t('address.again')}
        {left > 0 && <span class="until"> {relativeTime(certainWaitMs(left))}</span>}
      </Button>
      <Button onPress={onOtherAddress}>{t('address.other')}</Button>
    </div>
  );
}

interface CodeProps {
  act: Request;
  challenge: NewAddress;
  deliveryState: DeliveryState;
  sent: (challenge: NewAddress) => void;
  onCode: (code: string) => void;
  other: () => void;
}

function CodeForm({ act, challenge, deliveryState, sent: onSent, onCode: use, other }: CodeProps) {
  const { spec, status } = challenge;
  const { codeLength } = status;
  const left = useRemaining(status.resendAfterTimestamp);
  const { code, isMalformed, send, take } = useTypedCode(status.sentTimestamp, codeLength, use);
  useNewCodeAnnouncement(status);
  const resend = (): void =>
    void act.run(
      async () => onSent(await call<NewAddress>('POST', 'accounts/~/emailchallenge', { spec })),
      step,
    );
  const error = isMalformed
    ? t('address.shape', { digits: codeLength, tries: status.triesLeft })
    : act.failure && wrongCode(act.failure);
  return (
    <Form look="inset" onSubmit={() => send(code)}>
      <DeliveryMessage challenge={challenge} state={deliveryState} />
      <Field
        id="new-code"
        name="code"
        label={t('address.code')}
        inputMode="numeric"
        autoComplete="one-time-code"
        dir="ltr"
        class="code"
        spellcheck={false}
        value={inGroups(code, codeLength)}
        error={error}
        onText={take}
      />
      <ActionError failure={error ? undefined : act.failure} />
      <Button variant="main" submit busy={act.busy} progress="address.checking">
        {t('address.use')}
      </Button>
      <OtherWays left={left} resend={resend} onOtherAddress={other} />
    </Form>
  );
}

interface Props {
  /** The problem with the delivery of the code, if there is one. */
  deliveryState: DeliveryState;
  /** Reads what was typed; it is in the page's own script. */
  readAddress: typeof readAddress;
  /** Closes the form. */
  close: () => void;
}

/** Changes the address: the new one, then the code that was sent there. */
export function EmailChange({ deliveryState, readAddress: read, close }: Props) {
  const { setAccount } = useAccountContext();
  const [challenge, setChallenge] = useState<NewAddress>();
  const act = useAction(wrongCode);
  const use = (code: string): void =>
    void act.run(async () => {
      const next = await call<Account>('POST', 'accounts/~/email', { spec: { code } });
      setAccount(next);
      close();
      announce(t('address.done', { email: next.status.email.address }));
      void signalPasskeys();
    }, step);
  if (!challenge) {
    return <AddressForm act={act} read={read} onSent={setChallenge} onCancel={close} />;
  }
  const other = (): void => {
    act.clear();
    setChallenge(undefined);
  };
  return (
    <CodeForm
      act={act}
      challenge={challenge}
      deliveryState={deliveryState}
      sent={setChallenge}
      onCode={use}
      other={other}
    />
  );
}
