import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { English, Table } from '../base/parts.js';

/** A condition by the Kubernetes API conventions. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

const columns = ['type', 'status', 'reason', 'message', 'since'] as const;

/** The conditions of an object. */
export const Conditions = ({ conditions }: { conditions: readonly Condition[] }) => (
  <Table
    label={t('console.conditions')}
    columns={columns.map((column) => t(`console.condition.${column}`))}
    role="group"
  >
    {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
      <tr key={type}>
        <th scope="row">
          <English>{type}</English>
        </th>
        {[status, reason, message].map((text) => (
          <td>
            <English>{text}</English>
          </td>
        ))}
        <td>{lastTransitionTime && <Timestamp of={lastTransitionTime} />}</td>
      </tr>
    ))}
  </Table>
);
