import { useState } from 'preact/hooks';
import { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { Lazy, usePart } from '../base/lazy.js';
import { Latin, t, format } from '../base/message.js';
import { Moment } from '../base/relative-time.js';
import { Fault } from './use-action.js';
import { useMe } from './account-context.js';
import { Section, toPart } from './section.js';
import { clearStep } from './redirects.js';

const change = new Lazy(() => import('./email-change.js'));

/** The address the person signs in with, and the way to another one. */
export function Email() {
  const { account, step } = useMe();
  const [open, setOpen] = useState(step === 'email');
  const { here, missing } = usePart(open ? change : undefined);
  const { address, verifiedTimestamp } = account.status.email;
  const close = (): void => {
    setOpen(false);
    clearStep();
    toPart('email');
  };
  return (
    <Section id="email">
      <p>
        {format('address.what', {
          email: <Latin of={address} strong />,
          when: <Moment of={verifiedTimestamp} />,
        })}
      </p>
      {!open && <Button press={() => setOpen(true)}>{t('address.change')}</Button>}
      {here && <here.EmailChange close={close} />}
      {missing && <Fault failure={new ApiError(0)} />}
    </Section>
  );
}
