import { useState } from 'preact/hooks';
import type { Session } from '../../api.js';
import { readAddress } from '../../base/passkeys/address.js';
import { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { ActionError } from '../base/use-action.js';
import { useAccountContext } from '../base/account-context.js';
import { Section, focusSection } from '../base/section.js';
import { clearStep } from '../base/redirects.js';

const emailChangeChunk = new Lazy(() => import('./email-change.js'));

/** The address the person signs in with, and the form to change it in the current session. */
export function Email({ current }: { current: Session | undefined }) {
  const { account, step } = useAccountContext();
  const [open, setOpen] = useState(step === 'email');
  const { loaded: here, isMissing: missing } = useLazy(open ? emailChangeChunk : undefined);
  const { address, verifiedTimestamp } = account.status.email;
  const close = (): void => {
    setOpen(false);
    clearStep();
    focusSection('email');
  };
  return (
    <Section id="email">
      <p>
        {format('address.what', {
          email: <Ltr of={address} strong />,
          when: <Timestamp of={verifiedTimestamp!} />,
        })}
      </p>
      {!open && <Button onPress={() => setOpen(true)}>{t('address.change')}</Button>}
      {here && (
        <here.EmailChange
          deliveryState={current?.status.emailDeliveryState}
          readAddress={readAddress}
          close={close}
        />
      )}
      {missing && <ActionError failure={new ApiError(0)} />}
    </Section>
  );
}
