import { useEffect, useState } from 'preact/hooks';
import { announce } from '../../base/live-region.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { now } from '../../base/api/clock.js';
import { Ltr, t, format } from '../../base/text/message.js';
import { ActionError, useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { download, type Export } from './export.js';
import { useAccountContext } from '../base/account-context.js';
import { Section, focusSection } from '../base/section.js';
import { clearStep } from '../base/redirects.js';

const step = 'delete';
const exportStep = 'export';

function ExportButton() {
  const { step: resumed } = useAccountContext();
  const { busy, failure, run } = useAction();
  const exportData = (): void =>
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
      <ActionError failure={failure} />
      {resumed === exportStep && <p class="notice">{t('account.resumed')}</p>}
      <Button busy={busy} progress="data.exporting" onPress={exportData}>
        {t('data.export')}
      </Button>
    </>
  );
}

function Deletion() {
  const { account, leave, step: resumed } = useAccountContext();
  const [asking, setAsking] = useState(resumed === step);
  const act = useAction();
  const address = <Ltr of={account.status.email.address} />;
  useEffect(() => {
    if (asking) document.getElementById('delete-title')?.scrollIntoView({ block: 'center' });
  }, []);
  const remove = async (): Promise<void> => {
    if (!(await act.run(() => call('DELETE', 'accounts/~'), step))) return;
    clearStep();
    leave('deleted');
  };
  if (!asking) {
    return (
      <Button variant="danger" onPress={() => setAsking(true)}>
        {t('data.delete')}
      </Button>
    );
  }
  return (
    <Confirm
      action={act}
      onConfirm={remove}
      onCancel={() => {
        act.clear();
        clearStep();
        setAsking(false);
        focusSection('data');
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

/** The export of all data, and the deletion of the account. */
export function Data() {
  return (
    <Section id="data" hint="data.hint">
      <ExportButton />
      <div class="last">
        <Deletion />
      </div>
    </Section>
  );
}
