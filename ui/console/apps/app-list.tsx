import { useCollection } from '../../base/api/collection.js';
import { Icon } from '../../base/frame/icon.js';
import { t, Ltr } from '../../base/text/message.js';
import { Monogram } from '../../base/text/monogram.js';
import type { ObjectMeta } from '../../api.js';
import { useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { listCommand } from '../base/kubectl.js';
import { A, Day, Kubectl } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import type { LiveTable, Row } from '../base/table.js';
import { BulkDelete } from '../table/bulk-act.js';
import type { DataColumn } from '../table/column.js';
import { ObjectTable } from '../table/object-table.js';

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

const App = ({ client }: { client: Client }) => (
  <span class="who">
    <Monogram name={client.spec.displayName} />
    <span>
      <bdi>{client.spec.displayName}</bdi>
      <Ltr of={hostOf(client)} />
    </span>
  </span>
);

const State = ({ client }: { client: Client }) =>
  lacksSecret(client) ? (
    <span class="state warn square">{t('console.apps.nosecret')}</span>
  ) : (
    <span class="state ok">{t('console.apps.ready')}</span>
  );

/** The columns of apps, which are read from the Clients themselves. */
function columnsOf(clients: ReadonlyMap<string, Client>): DataColumn[] {
  const clientOf = ({ object }: Row): Client => clients.get(object.metadata.name)!;
  return [
    {
      id: 'name',
      title: t('console.apps.app'),
      text: (row) => clientOf(row).spec.displayName,
      cell: (row) => <App client={clientOf(row)} />,
    },
    {
      id: 'client',
      title: 'client_id',
      text: ({ object }) => object.metadata.name,
      isSecondary: true,
    },
    {
      id: 'state',
      title: t('console.people.state'),
      text: (row) => t(lacksSecret(clientOf(row)) ? 'console.apps.nosecret' : 'console.apps.ready'),
      cell: (row) => <State client={clientOf(row)} />,
    },
    {
      id: 'added',
      title: t('console.people.added'),
      text: ({ object }) => object.metadata.creationTimestamp,
      cell: ({ object }) => <Day of={object.metadata.creationTimestamp} />,
      isSecondary: true,
    },
  ];
}

const AddLink = () => (
  <A to={pathTo('apps', '-', 'new')} look="button main">
    <Icon of="plus" />
    {t('console.apps.add')}
  </A>
);

/** The apps that people sign in to: the Clients, kept up to date. */
export function AppList({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { items, failure, reload } = useCollection<Client>(kind.path);
  const mayCreate = useIsAllowed(kind, 'create');
  const mayDelete = useIsAllowed(kind, 'delete');
  const clients = new Map((items ?? []).map((client) => [client.metadata.name, client]));
  const columns = columnsOf(clients);
  const words = (query.get('find') ?? '').toLowerCase();
  const table: LiveTable = {
    ...(items && { rows: items.map((object) => ({ cells: [], object })), isComplete: true }),
    failure,
    busy: false,
    more: () => Promise.resolve(),
    retry: reload,
  };
  return (
    <Frame title="console.apps" part="apps" actions={mayCreate && <AddLink />}>
      <ObjectTable
        label={t('console.apps')}
        resource="apps"
        path={pathTo('apps')}
        query={query}
        table={table}
        columns={columns}
        usualSort="name"
        searchLabel={t('console.search')}
        choices={[]}
        matches={(row) => {
          const client = clients.get(row.object.metadata.name)!;
          const texts = [...columns.map(({ text }) => text(row)), hostOf(client)];
          return texts.some((text) => text.toLowerCase().includes(words));
        }}
        to={({ object }) => pathTo('clients', object.metadata.name)}
        empty={<p>{t('console.apps.none')}</p>}
        notFound="console.notfound"
        acts={mayDelete ? (names) => <BulkDelete kind={kind} names={names} /> : undefined}
      />
      <Kubectl command={listCommand(kind, {})} />
    </Frame>
  );
}
