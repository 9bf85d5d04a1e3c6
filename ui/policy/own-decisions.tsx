import { ApiError } from '../base/api/api.js';
import { errorText } from '../base/error-page.js';
import { Lazy, useLazy } from '../base/api/lazy.js';
import { Link } from '../base/link.js';
import { t, format } from '../base/text/message.js';
import { View } from '../base/view.js';
import { ruleTitle, type RuleMessage } from '../decisions/rule-words.js';

const decisionsChunk = new Lazy(() => import('../decisions/decisions-chunk.js'));

/** The decisions of a rule about the reader, or of all rules if none is given. */
export function OwnDecisions({
  rule,
  said,
  me,
}: {
  rule: string;
  said: RuleMessage | undefined;
  me: string | undefined;
}) {
  const { loaded, isMissing } = useLazy(me === undefined ? undefined : decisionsChunk);
  return (
    <View
      title={rule ? 'policy.decisions' : 'policy.decisions.all'}
      values={{ rule: ruleTitle(rule, said) }}
      phase="policy"
    >
      {me === undefined ? (
        <p class="lead">
          {format('policy.decisions.visitor', {
            account: <Link to="/account">{t('policy.decisions.signin')}</Link>,
          })}
        </p>
      ) : (
        <>
          <p class="lead">{t(rule ? 'policy.decisions.lead' : 'policy.decisions.all.lead')}</p>
          {loaded && <loaded.Decisions account={me} rule={rule || undefined} />}
          {!loaded && <p class="hint">{isMissing ? errorText(new ApiError(0)) : t('working')}</p>}
        </>
      )}
      <p class="leave">
        <a href={rule ? `#rule=${encodeURIComponent(rule)}` : '#'}>{t('policy.back')}</a>
      </p>
    </View>
  );
}
