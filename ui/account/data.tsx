import { useEffect, useState } from 'preact/hooks';
import { announce } from '../base/announcement.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import { now } from '../base/clock.js';
import { Latin, say, tell } from '../base/message.js';
import { Fault, useAct } from './act.js';
import { Confirm } from './confirm.js';
import { download, gather } from './export.js';
import { useMe } from './me.js';
import { Part, toPart } from './part.js';
import { clearStep } from './visit.js';

const step = 'delete';

function Save() {
  const { account } = useMe();
  const { busy, failure, run } = useAct();
  const [missing, setMissing] = useState<readonly string[]>([]);
  const save = (): void => void run(async () => {
    const all = await gather(account);
    setMissing(all.missing);
    download(all.list, `${location.hostname}-${new Date(now()).toISOString().slice(0, 10)}.json`);
    announce(say('data.exported'));
  });
  return (
    <>
      <Fault failure={failure} />
      {missing.length > 0 && <p class="notice warn">{say('data.partly', { kinds: missing.join(', ') })}</p>}
      <Button busy={busy} progress="data.exporting" press={save}>{say('data.export')}</Button>
    </>
  );
}

function Deletion() {
  const { account, leave, step: resumed } = useMe();
  const [asking, setAsking] = useState(resumed === step);
  const { busy, failure, run, clear } = useAct();
  const address = <Latin of={account.status.email.address} />;
  useEffect(() => { if (asking) document.getElementById('delete-title')?.scrollIntoView({ block: 'center' }); }, []);
  const remove = async (): Promise<void> => {
    if (await run(async () => { await call('DELETE', 'accounts/~'); }, step)) { clearStep(); leave('deleted'); }
  };
  if (!asking) return <Button look="danger" press={() => setAsking(true)}>{say('data.delete')}</Button>;
  return (
    <Confirm busy={busy} confirm={() => void remove()} keep={() => { clear(); clearStep(); setAsking(false); toPart('data'); }}>
      <h3 id="delete-title">{say('data.delete.title')}</h3>
      <p>{say('data.delete.ask')}</p>
      <ul>
        <li>{say('data.delete.signedout')}</li>
        <li>{say('data.delete.passkeys')}</li>
        <li>{say('data.delete.services')}</li>
        <li>{tell('data.delete.address', { email: address })}</li>
      </ul>
      <Fault failure={failure} />
    </Confirm>
  );
}

/** All of it in one file, and the end of the account. */
export function Data() {
  return (
    <Part id="data" title="data.title" hint="data.hint">
      <Save />
      <div class="last"><Deletion /></div>
    </Part>
  );
}
