import type { PolicyDecision } from '../../api.js';
import { addMessages } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useRead } from '../../base/api/use-read.js';
import { AlternativeList } from '../../decisions/alternative-list.js';
import { newestFirst } from '../../decisions/newest-first.js';
import alternatives from '../../messages/en/alternatives.json';
import { readFirst } from '../base/first-pages.js';
import type { AnyObject, Kind } from '../base/kind.js';
import { A, English, Failure, Loading, Table } from '../base/parts.js';
import { pathTo } from '../base/route.js';

addMessages(alternatives);

interface Found {
  readonly decisions: readonly PolicyDecision[];
  /** How many were read, if there are more. */
  readonly readCount: number | undefined;
}

/** Returns the account whose decisions concern an object: itself, or its owner. */
const accountOf = ({ kind, metadata }: AnyObject): string | undefined =>
  kind === 'Account'
    ? metadata.name
    : metadata.ownerReferences?.find((owner) => owner.kind === 'Account')?.name;

async function readDecisions({ path }: Kind, object: AnyObject): Promise<Found> {
  const account = accountOf(object);
  const { items, hasMore } = await readFirst<PolicyDecision>(
    path,
    account === undefined ? {} : { fieldSelector: `spec.account=${account}` },
  );
  const found = items.filter(
    ({ spec: { resource } }) =>
      resource?.kind === object.kind && resource.name === object.metadata.name,
  );
  return { decisions: newestFirst(found), readCount: hasMore ? items.length : undefined };
}

function Row({ decision, kind }: { decision: PolicyDecision; kind: Kind }) {
  const { metadata, spec, status } = decision;
  const { subresource } = spec.resource ?? {};
  return (
    <tr>
      <th scope="row">
        <A to={pathTo(kind.resource, metadata.name)}>
          <Timestamp of={status.lastTimestamp} />
        </A>
      </th>
      <td>
        <English>{subresource ? `${spec.action} (${subresource})` : spec.action}</English>
      </td>
      <td>
        <bdi dir="ltr">{spec.principal}</bdi>
      </td>
      <td>
        <span class={`word ${status.allowed ? 'allowed' : 'refused'}`}>
          {t(status.allowed ? 'console.allowed' : 'console.denied')}
        </span>
      </td>
      <td>
        <English>{status.reasons.map(({ rule }) => rule).join(', ')}</English>
        <AlternativeList decision={decision} />
      </td>
    </tr>
  );
}

const columns = ['when', 'action', 'principal', 'result', 'rules'] as const;

interface Props {
  object: AnyObject;
  /** The kind of decisions. */
  decisions: Kind;
}

/** The decisions of the policy about an object, newest first, as they were when it was opened. */
export function ObjectDecisions({ object, decisions: kind }: Props) {
  const { value: found, failure } = useRead(
    () => readDecisions(kind, object),
    [object.metadata.uid],
  );
  if (failure) return <Failure failure={failure} />;
  if (!found) return <Loading />;
  return (
    <>
      {found.readCount !== undefined && (
        <p class="hint">{t('console.decisions.some', { count: found.readCount })}</p>
      )}
      {found.decisions.length === 0 && <p class="lead empty">{t('console.decisions.none')}</p>}
      {found.decisions.length > 0 && (
        <Table
          label={t('console.view.decisions')}
          columns={columns.map((column) => t(`console.decision.${column}`))}
        >
          {found.decisions.map((decision) => (
            <Row key={decision.metadata.name} decision={decision} kind={kind} />
          ))}
        </Table>
      )}
    </>
  );
}
