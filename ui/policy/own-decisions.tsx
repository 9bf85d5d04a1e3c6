import { Link } from '../base/link.js';
import { say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import { Decisions } from '../decisions/decisions.js';
import { idAsWords } from '../decisions/words.js';

/** What a rule has decided about the person who looks; of all rules where none is given. */
export function OwnDecisions({ rule, me }: { rule: string; me: string | undefined }) {
  return (
    <View
      title={rule ? 'policy.decisions' : 'policy.decisions.all'}
      values={{ rule: idAsWords(rule) }}
      phase="policy"
    >
      {me === undefined ? (
        <p class="lead">
          {tell('policy.decisions.visitor', {
            account: <Link to="/account">{say('policy.decisions.signin')}</Link>,
          })}
        </p>
      ) : (
        <>
          <p class="lead">{say(rule ? 'policy.decisions.lead' : 'policy.decisions.all.lead')}</p>
          <Decisions account={me} rule={rule || undefined} />
        </>
      )}
      <p class="leave">
        <a href={rule ? `#rule=${encodeURIComponent(rule)}` : '#'}>{say('policy.back')}</a>
      </p>
    </View>
  );
}
