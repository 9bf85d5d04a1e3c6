import type { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Link } from '../../base/link.js';
import { t } from '../../base/text/message.js';
import { fillSettings, type AppClient } from './app-client.js';
import type { AppTemplate } from './app-templates.js';
import { Chunk } from '../base/chunk.js';
import { Frame } from '../base/frame.js';
import { reportChunk } from './report-chunk.js';
import type { Kind } from '../base/kind.js';
import { A, Code, Failure } from '../base/parts.js';
import { pathTo } from '../base/route.js';

interface Props {
  kind: Kind;
  template: AppTemplate;
  client: AppClient;
  /** Undefined until it is created, and of a public Client. */
  secret: string | undefined;
  busy: boolean;
  failure: ApiError | undefined;
  onSecret: () => void;
}

function Secret({ secret, busy, failure, onSecret }: Omit<Props, 'kind' | 'template' | 'client'>) {
  const title = t('console.apps.secret');
  return (
    <section>
      <h2>{title}</h2>
      {failure && <Failure failure={failure} isChange />}
      {secret === undefined ? (
        <>
          <p class="hint">{t('console.apps.nosecret')}</p>
          <Button variant="small" busy={busy} onPress={onSecret}>
            {t('console.apps.secret.create')}
          </Button>
        </>
      ) : (
        <>
          <p class="notice">{t('console.apps.secret.once')}</p>
          <Code text={secret} label={title} />
        </>
      )}
    </section>
  );
}

/** What to do after an app was added: its secret, which is shown once, and its settings. */
export function AppCreated({ kind, template, client, secret, ...request }: Props) {
  const { spec } = client;
  const title = t('console.apps.settings', { target: template.target });
  return (
    <Frame title="console.apps.created" values={{ name: spec.displayName }} part="apps">
      {spec.type === 'Confidential' && <Secret secret={secret} {...request} />}
      <section>
        <h2>{title}</h2>
        <Code text={fillSettings(template, client, location.origin, secret)} label={title} />
      </section>
      <div class="tools next">
        <Link to={spec.homepageURI} tab look="button main">
          {t('console.apps.test')}
        </Link>
        <A to={pathTo('apps')} look="button">
          {t('console.apps')}
        </A>
      </div>
      <Chunk
        of={reportChunk}
        show={({ ClientReport }) => <ClientReport kind={kind} name={client.metadata.name} />}
      />
    </Frame>
  );
}
