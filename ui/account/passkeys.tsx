import { useState } from 'preact/hooks';
import type { Passkey, PasskeyChallenge, Recovery } from '../api.js';
import { announce } from '../base/live-region.js';
import { call, ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import { useCollection, type Kept } from '../base/collection.js';
import { Lazy } from '../base/lazy.js';
import { t } from '../base/message.js';
import { canUsePasskeys, isNumbered } from '../base/passkeys.js';
import { Fault, useAct } from './use-action.js';
import { owned, useMe } from './account-context.js';
import { Listed, Section } from './section.js';
import { PasskeyRow } from './passkey-row.js';
import { LostPasskeys } from './recovery.js';
import { signal } from './signal.js';
import { clearStep } from './redirects.js';

const step = 'passkey-add';
const ceremony = new Lazy(() => import('../base/webauthn.js'));

const here = () =>
  ceremony.get().catch((): never => {
    throw new ApiError(0);
  });

const newestFirst = (all: readonly Passkey[]): Passkey[] =>
  [...all].sort((a, b) => b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp));

/**
 * Registers a passkey; undefined where the person changed their mind. Throws a Failure, or what the
 * ceremony makes of a fault of the browser.
 */
async function register(): Promise<Passkey | undefined> {
  const { create } = await here();
  const {
    status: { options },
  } = await call<PasskeyChallenge<Parameters<typeof create>[0]>>(
    'POST',
    'accounts/~/passkeychallenge',
    { spec: { purpose: 'Register' } },
  );
  const credential = await create(options);
  return credential && call<Passkey>('POST', 'passkeys', { spec: { credential } });
}

const explain = ({ code }: ApiError): string | undefined =>
  ({ 422: t('passkey.unaccepted'), 409: t('passkey.many') })[code];

/** The way to one more passkey, or why this browser has none. */
function AddPasskey({ busy, press }: { busy: boolean; press: () => void }) {
  if (!canUsePasskeys())
    return <p class="hint">{t(isNumbered() ? 'passkeys.numbered' : 'passkeys.unsupported')}</p>;
  return (
    <Button id={step} busy={busy} progress="passkey.adding" press={press}>
      {t('passkey.add')}
    </Button>
  );
}

/** The passkeys of the account: what keeps them, a name for each, and the way to more or fewer. */
export function Passkeys({ recoveries }: { recoveries: Kept<Recovery> }) {
  const { account, live, step: resumed } = useMe();
  const passkeys = useCollection<Passkey>('passkeys', owned(account), live);
  const [added, setAdded] = useState<string>();
  const [browserSays, setBrowserSays] = useState<string>();
  const { busy, failure, run } = useAct(explain);
  const add = (): void => {
    setBrowserSays(undefined);
    void run(async () => {
      const { Unusable } = await here();
      try {
        const passkey = await register();
        if (!passkey) return;
        passkeys.put(passkey);
        setAdded(passkey.metadata.name);
        announce(t('passkeys.new'));
        void signal();
      } catch (thrown) {
        if (!(thrown instanceof Unusable)) throw thrown;
        setBrowserSays(t(thrown.id));
        announce(t(thrown.id));
      }
    }, step).then(clearStep);
  };
  const last = passkeys.items?.length === 1;
  return (
    <Section id="passkeys" hint="passkeys.hint">
      <Listed
        of={passkeys}
        list="passkeys.list"
        none="passkeys.none"
        look="things"
        order={newestFirst}
        row={(passkey) => (
          <PasskeyRow
            key={passkey.metadata.name}
            passkey={passkey}
            last={last}
            isNew={passkey.metadata.name === added}
            all={passkeys}
          />
        )}
      />
      {resumed === step && !added && <p class="notice">{t('account.resumed')}</p>}
      {browserSays && <p class="notice bad">{browserSays}</p>}
      <Fault failure={failure} words={failure && explain(failure)} />
      <AddPasskey busy={busy} press={add} />
      {passkeys.items && passkeys.items.length > 0 && (
        <div class="last">
          <LostPasskeys recoveries={recoveries} resumed={resumed} />
        </div>
      )}
    </Section>
  );
}
