import type { Policy } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { comparisonLink } from '../../policy/route.js';
import { Act } from '../base/act.js';
import type { Kind } from '../base/kind.js';
import { createCommand } from '../base/kubectl.js';
import { Failure, Part } from '../base/parts.js';
import { policyBody, type Impact } from './policy-check.js';
import { ImpactLists } from './policy-impact.js';
import { useRequest } from '../base/use-request.js';

/** Returns the counts of a trial in the form of a dry run, with its examples as names. */
const impactOf = (shadow: NonNullable<Policy['status']['shadow']>): Impact => ({
  ...shadow,
  replayed: shadow.evaluated,
  ...shadow.examples,
  unnamed: {
    nowRefused: shadow.nowRefused - shadow.examples.nowRefused.length,
    nowAllowed: shadow.nowAllowed - shadow.examples.nowAllowed.length,
  },
});

interface Props {
  readonly kind: Kind;
  readonly trial: Policy;
  readonly inForce: Policy;
  /** Whether the caller may put it in force. */
  readonly mayCreate: boolean;
  readonly onCreated: (policy: Policy) => void;
}

/** The policy in trial: what it would have decided so far, and the way to put it in force. */
export function PolicyTrial({ kind, trial, inForce, mayCreate, onCreated }: Props) {
  const request = useRequest();
  const {
    metadata: { name },
    spec: { cedar, description },
    status: { shadow },
  } = trial;
  const ending = policyBody(kind, inForce.spec.cedar, t('policies.trial.ended', { name }));
  const putInForce = (): Promise<boolean> =>
    request.run(async () => {
      onCreated(await call<Policy>('POST', kind.path, policyBody(kind, cedar, description)));
    });
  return (
    <Part id="trial" title={t('policy.trial.title', { name })}>
      <p class="hint">
        {t('policy.trial.since')} <Timestamp of={trial.metadata.creationTimestamp} />{' '}
        <a href={`/policy${comparisonLink(inForce.metadata.name, name)}`}>
          {t('policies.difference', { name: inForce.metadata.name })}
        </a>
      </p>
      {shadow && <ImpactLists impact={impactOf(shadow)} />}
      {request.failure && <Failure failure={request.failure} isChange />}
      {mayCreate && (
        <div class="tools">
          <Button
            variant="small"
            busy={request.busy}
            progress="console.saving"
            onPress={() => void putInForce()}
          >
            {t('policies.putinforce')}
          </Button>
          <Act
            label={t('policies.trial.end')}
            command={createCommand(ending)}
            work={async () => onCreated(await call<Policy>('POST', kind.path, ending))}
            done={t('policies.trial.ended', { name })}
          >
            {t('policies.trial.end.what', { name: inForce.metadata.name })}
          </Act>
        </div>
      )}
    </Part>
  );
}
