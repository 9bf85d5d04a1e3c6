import { useCollection } from '../../base/api/collection.js';
import { t, Ltr } from '../../base/text/message.js';
import { Monogram } from '../../base/text/monogram.js';
import type { ObjectMeta } from '../../api.js';
import { useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Failure, Kubectl, Loading } from '../base/parts.js';
import { pathTo } from '../base/route.js';

interface Client {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly displayName: string;
    readonly type: string;
    readonly redirectURIs: readonly string[];
    readonly tokenEndpointAuthMethod?: string;
    readonly secretHashes?: readonly string[];
  };
  readonly status: { readonly secrets?: readonly unknown[] };
}

/** Returns the host of the first redirect URI; of a private-use scheme the whole URI. */
function hostOf({ spec }: Client): string {
  const [address = ''] = spec.redirectURIs;
  return (URL.canParse(address) && new URL(address).host) || address;
}

const lacksSecret = ({ spec, status }: Client): boolean =>
  spec.type === 'Confidential' &&
  spec.tokenEndpointAuthMethod !== 'private_key_jwt' &&
  !spec.secretHashes?.length &&
  !status.secrets?.length;

const AppCard = ({ client }: { client: Client }) => (
  <li class="app">
    <Monogram name={client.spec.displayName} />
    <div>
      <h2>
        <A to={pathTo('clients', client.metadata.name)}>
          <bdi>{client.spec.displayName}</bdi>
        </A>
      </h2>
      <p class="hint">
        <Ltr of={hostOf(client)} />
      </p>
      <p class="hint">{t(lacksSecret(client) ? 'console.apps.nosecret' : 'console.apps.ready')}</p>
    </div>
  </li>
);

const AddLink = () => (
  <A to={pathTo('apps', '-', 'new')} look="button main">
    {t('console.apps.add')}
  </A>
);

/** The apps that people sign in to: the Clients, kept up to date. */
export function AppList({ kind }: { kind: Kind }) {
  const { items, failure, reload } = useCollection<Client>(kind.path);
  const mayCreate = useIsAllowed(kind, 'create');
  const isEmpty = items?.length === 0;
  const order = new Intl.Collator();
  const apps = [...(items ?? [])].sort((app, other) =>
    order.compare(app.spec.displayName, other.spec.displayName),
  );
  return (
    <Frame title="console.apps" part="apps" actions={mayCreate && <AddLink />}>
      <p class="lead">{t(isEmpty ? 'console.apps.none' : 'console.apps.lead')}</p>
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {apps.length > 0 && (
        <ul class="tiles" aria-label={t('console.apps')}>
          {apps.map((client) => (
            <AppCard key={client.metadata.name} client={client} />
          ))}
        </ul>
      )}
      <Kubectl command={listCommand(kind, {})} />
    </Frame>
  );
}
