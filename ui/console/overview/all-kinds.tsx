import { t } from '../../base/text/message.js';
import { useConsole, useDocument } from '../base/console-context.js';
import { pluralOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { A, English, Part, Table } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { objectSchema } from '../base/schema.js';

function KindTable({ label, kinds }: { label: string; kinds: readonly Kind[] }) {
  const document = useDocument();
  return (
    <Table label={label} columns={[t('console.kinds.kind'), t('console.kinds.what')]} wraps>
      {kinds.map((kind) => (
        <tr key={kind.resource}>
          <th scope="row">
            <A to={pathTo(kind.resource)}>
              <English>{pluralOf(kind)}</English>
            </A>
          </th>
          <td>
            <English>{objectSchema(document, kind).description}</English>
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Every kind that the caller may list: those that operators write, and those that only the service does. */
export function AllKinds() {
  const { listed } = useConsole();
  const isWritten = ({ verbs }: Kind): boolean => verbs.includes('create');
  const groups = [
    ['written', listed.filter(isWritten)],
    ['kept', listed.filter((kind) => !isWritten(kind))],
  ] as const;
  return (
    <Frame title="console.kinds">
      <p class="lead">{t('console.lead')}</p>
      {groups
        .filter(([, kinds]) => kinds.length > 0)
        .map(([name, kinds]) => (
          <Part key={name} id={name} title={t(`console.kinds.${name}`)}>
            <KindTable label={t(`console.kinds.${name}`)} kinds={kinds} />
          </Part>
        ))}
      {listed.length === 0 && <p>{t('console.nothing')}</p>}
    </Frame>
  );
}
