import type { Replica } from '../../api.js';
import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { English, Table } from '../base/parts.js';

type ManifestFile = NonNullable<Replica['status']['manifests']>[number];

const columns = ['file', 'state', 'objects', 'since', 'message'] as const;

/** Returns the files by name; one that is faulty on any replica is shown as faulty. */
function filesOf(replicas: readonly Replica[]): ManifestFile[] {
  const byName = new Map<string, ManifestFile>();
  for (const file of replicas.flatMap(({ status }) => status.manifests ?? [])) {
    if (byName.get(file.file)?.state !== 'Faulty') byName.set(file.file, file);
  }
  return [...byName.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** The files of the folder of manifests with their state; nothing if the folder is not set. */
export function ManifestFiles({ replicas }: { replicas: readonly Replica[] }) {
  if (replicas.every(({ status }) => status.manifests === undefined)) return null;
  const files = filesOf(replicas);
  return (
    <section>
      <h2>{t('console.manifests')}</h2>
      {files.length === 0 ? (
        <p class="hint">{t('console.manifests.none')}</p>
      ) : (
        <Table
          label={t('console.manifests')}
          columns={columns.map((column) => t(`console.manifest.${column}`))}
          wraps
        >
          {files.map(({ file, state, objects, timestamp, message }) => (
            <tr key={file}>
              <th scope="row">
                <bdi dir="ltr">{file}</bdi>
              </th>
              <td>
                {state === 'Faulty' ? (
                  <p class="fault">{t('console.manifest.Faulty')}</p>
                ) : (
                  t('console.manifest.Applied')
                )}
              </td>
              <td>{objects}</td>
              <td>
                <Timestamp of={timestamp} />
              </td>
              <td>{message === undefined ? t('console.none') : <English>{message}</English>}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
