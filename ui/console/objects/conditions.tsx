import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { English } from '../base/parts.js';

/** A condition by the Kubernetes API conventions. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The conditions of an object. */
export const Conditions = ({ conditions }: { conditions: readonly Condition[] }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it may scroll
  <div class="table" role="group" tabIndex={0} aria-label={t('console.conditions')}>
    <table>
      <thead>
        <tr>
          {(['type', 'status', 'reason', 'message', 'since'] as const).map((one) => (
            <th scope="col">{t(`console.condition.${one}`)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
          <tr key={type}>
            {[type, status, reason, message].map((text, i) =>
              i === 0 ? (
                <th scope="row">
                  <English>{text}</English>
                </th>
              ) : (
                <td>
                  <English>{text}</English>
                </td>
              ),
            )}
            <td>{lastTransitionTime && <Timestamp of={lastTransitionTime} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
