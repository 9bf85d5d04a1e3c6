import { useEffect } from 'preact/hooks';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { addMessages } from '../../base/text/i18n.js';
import { announce } from '../../base/live-region.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useRead } from '../../base/api/use-read.js';
import messages from '../../messages/en/report.json';
import { useIsAllowed } from '../base/discovery.js';
import type { AnyObject, Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { English, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { useRequest } from '../base/use-request.js';

addMessages(messages);

interface Refusal {
  readonly timestamp: string;
  readonly endpoint: string;
  readonly message: string;
  readonly remedy?: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

type Share = 'Always' | 'Sometimes' | 'Never';

interface Client extends AnyObject {
  readonly spec: { readonly pkce?: string; readonly type: string };
  readonly status: {
    readonly lastRefusals?: readonly Refusal[];
    readonly authorizationRequests?: { readonly codeChallenge: Share; readonly nonce: Share };
  };
}

const RefusalRow = ({ refusal }: { refusal: Refusal }) => (
  <li>
    <English>{refusal.message}</English>
    {refusal.remedy && (
      <p>{format('console.report.set', { remedy: <English>{refusal.remedy}</English> })}</p>
    )}
    <p class="hint">
      <Timestamp of={refusal.timestamp} /> · <English>{refusal.endpoint}</English>
      {Object.entries(refusal.parameters ?? {}).map(([name, value]) => (
        <>
          {' · '}
          <bdi dir="ltr">{`${name}=${value}`}</bdi>
        </>
      ))}
    </p>
  </li>
);

/** Demands of the app what it does anyway: with one click, and the command that does the same. */
function RequirePKCE({ kind, name, onDone }: { kind: Kind; name: string; onDone: () => void }) {
  const { busy, failure, run } = useRequest();
  const patch = { spec: { pkce: 'Required' } };
  const require = (): Promise<boolean> =>
    run(async () => {
      await call('PATCH', objectPath(kind, name), patch);
      announce(t('console.report.required'));
      onDone();
    });
  return (
    <>
      {failure && <Failure failure={failure} isChange />}
      <Button variant="small" busy={busy} progress="console.saving" onPress={() => void require()}>
        {t('console.report.require')}
      </Button>
      <Kubectl command={patchCommand(kind, name, patch)} />
    </>
  );
}

function useReport(kind: Kind, name: string) {
  const report = useRead(() => call<Client>('GET', objectPath(kind, name)), [name]);
  useEffect(() => {
    const onReturn = (): void => {
      if (document.visibilityState === 'visible') report.reload();
    };
    document.addEventListener('visibilitychange', onReturn);
    return () => document.removeEventListener('visibilitychange', onReturn);
  }, []);
  return report;
}

/**
 * What the program of a Client was seen to do: its refused requests, with what to set, and whether it
 * sends a code challenge. Looks again when the page is shown again, after a test of the sign-in.
 */
export function ClientReport({ kind, name }: { kind: Kind; name: string }) {
  const { value: client, failure, reload: look } = useReport(kind, name);
  const mayPatch = useIsAllowed(kind, 'patch', name);
  if (!mayPatch) return null;
  const { lastRefusals = [], authorizationRequests: sent } = client?.status ?? {};
  const { pkce, type } = client?.spec ?? {};
  return (
    <Part id="report" title={t('console.report')}>
      {failure && <Failure failure={failure} retry={look} />}
      {!client && !failure && <Loading />}
      {client && lastRefusals.length === 0 && (
        <p class="hint">{t(sent ? 'console.report.fine' : 'console.report.none')}</p>
      )}
      {lastRefusals.length > 0 && (
        <ul class="plain-list refusals">
          {lastRefusals.map((refusal) => (
            <RefusalRow key={`${refusal.endpoint} ${refusal.message}`} refusal={refusal} />
          ))}
        </ul>
      )}
      {sent && (
        <p>
          {t(`console.report.pkce.${sent.codeChallenge}`)} {t(`console.report.nonce.${sent.nonce}`)}
        </p>
      )}
      {sent?.codeChallenge === 'Always' && type === 'Confidential' && pkce !== 'Required' && (
        <RequirePKCE kind={kind} name={name} onDone={look} />
      )}
      <Button variant="small" onPress={look}>
        {t('console.report.again')}
      </Button>
    </Part>
  );
}
