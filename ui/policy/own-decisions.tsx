import { Link } from '../base/link.js';
import { t, format } from '../base/message.js';
import { View } from '../base/view.js';
import { Decisions } from '../decisions/decisions.js';
import { ruleTitle } from '../decisions/words.js';

/** The decisions of a rule about the reader, or of all rules if none is given. */
export function OwnDecisions({ rule, me }: { rule: string; me: string | undefined }) {
  return (
    <View
      title={rule ? 'policy.decisions' : 'policy.decisions.all'}
      values={{ rule: ruleTitle(rule) }}
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
          <Decisions account={me} rule={rule || undefined} />
        </>
      )}
      <p class="leave">
        <a href={rule ? `#rule=${encodeURIComponent(rule)}` : '#'}>{t('policy.back')}</a>
      </p>
    </View>
  );
}
