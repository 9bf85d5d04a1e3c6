import { useEffect, useState } from 'preact/hooks';
import { announce } from '../base/live-region.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import { now } from '../base/clock.js';
import { Latin, t, format } from '../base/message.js';
import { Fault, useAct } from './use-action.js';
import { Confirm } from './confirm.js';
import { download, type Export } from './export.js';
import { useMe } from './account-context.js';
import { Section, toPart } from './section.js';
import { clearStep } from './redirects.js';

const step = 'delete';
const exportStep = 'export';

function Save() {
  const { step: resumed } = useMe();
  const { busy, failure, run } = useAct();
  const save = (): void =>
    void run(async () => {
      download(
        await call<Export>('GET', 'accounts/~/export'),
        `${location.hostname}-${new Date(now()).toISOString().slice(0, 10)}.json`,
      );
      announce(t('data.exported'));
    }, exportStep).then((done) => {
      if (done) clearStep();
    });
  return (
    <>
      <Fault failure={failure} />
      {resumed === exportStep && <p class="notice">{t('account.resumed')}</p>}
      <Button busy={busy} progress="data.exporting" press={save}>
        {t('data.export')}
      </Button>
    </>
  );
}

function Deletion() {
  const { account, leave, step: resumed } = useMe();
  const [asking, setAsking] = useState(resumed === step);
  const act = useAct();
  const address = <Latin of={account.status.email.address} />;
  useEffect(() => {
    if (asking) document.getElementById('delete-title')?.scrollIntoView({ block: 'center' });
  }, []);
  const remove = async (): Promise<void> => {
    if (
      await act.run(async () => {
        await call('DELETE', 'accounts/~');
      }, step)
    ) {
      clearStep();
      leave('deleted');
    }
  };
  if (!asking)
    return (
      <Button look="danger" press={() => setAsking(true)}>
        {t('data.delete')}
      </Button>
    );
  return (
    <Confirm
      act={act}
      confirm={remove}
      keep={() => {
        act.clear();
        clearStep();
        setAsking(false);
        toPart('data');
      }}
    >
      <h3 id="delete-title">{t('data.delete.title')}</h3>
      <p>{t('data.delete.ask')}</p>
      <ul>
        <li>{t('data.delete.signedout')}</li>
        <li>{t('data.delete.passkeys')}</li>
        <li>{t('data.delete.services')}</li>
        <li>{format('data.delete.address', { email: address })}</li>
      </ul>
    </Confirm>
  );
}

/** All of it in one file, and the end of the account. */
export function Data() {
  return (
    <Section id="data" hint="data.hint">
      <Save />
      <div class="last">
        <Deletion />
      </div>
    </Section>
  );
}
