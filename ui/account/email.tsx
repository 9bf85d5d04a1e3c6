import { useState } from 'preact/hooks';
import { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { Late, usePart } from '../base/lazy.js';
import { Latin, say, tell } from '../base/message.js';
import { Moment } from '../base/relative-time.js';
import { Fault } from './use-action.js';
import { useMe } from './account-context.js';
import { Part, toPart } from './section.js';
import { clearStep } from './redirects.js';

const change = new Late(() => import('./email-change.js'));

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
    <Part id="email">
      <p>
        {tell('address.what', {
          email: <Latin of={address} strong />,
          when: <Moment of={verifiedTimestamp} />,
        })}
      </p>
      {!open && <Button press={() => setOpen(true)}>{say('address.change')}</Button>}
      {here && <here.EmailChange close={close} />}
      {missing && <Fault failure={new ApiError(0)} />}
    </Part>
  );
}
