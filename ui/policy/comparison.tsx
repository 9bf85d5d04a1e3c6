import { Field } from '../base/field.js';
import { t } from '../base/text/message.js';
import { View } from '../base/view.js';
import { Differences } from './differences.js';
import { policyNamed, type History } from './history.js';
import { comparisonLink } from './route.js';

interface ChoiceProps {
  id: 'before' | 'after';
  history: History;
  value: string;
  choose: (name: string) => void;
}

function Choice({ id, history, value, choose }: ChoiceProps) {
  return (
    <Field
      id={`compare-${id}`}
      label={t(`policy.compare.${id}`)}
      choices={[...history.trials, ...history.policies].map((policy) => {
        const { name } = policy.metadata;
        return [name, policy === history.inForce ? t('policy.compare.option', { name }) : name];
      })}
      value={value}
      onText={choose}
    />
  );
}

/** Any two policies line by line. The choice is in the address, so that it can be shared. */
export function Comparison({
  history,
  between,
}: {
  history: History;
  between: readonly [string, string];
}) {
  const names = history.policies.map(({ metadata }) => metadata.name);
  const [newest = '', second = newest] = names;
  const known = (name: string, fallback: string): string =>
    policyNamed(history, name) ? name : fallback;
  const [before, after] = [known(between[0], second), known(between[1], newest)];
  const isComparable = names.length + history.trials.length > 1;
  const textOf = (name: string) => ({
    name,
    text: policyNamed(history, name)?.spec.cedar ?? '',
  });
  const choose = (former: string, other: string): void =>
    location.replace(comparisonLink(former, other));
  return (
    <View title="policy.compare" phase="policy">
      <p class="lead">{t(isComparable ? 'policy.compare.lead' : 'policy.compare.one')}</p>
      {isComparable && (
        <>
          <div class="pair">
            <Choice
              id="before"
              history={history}
              value={before}
              choose={(name) => choose(name, after)}
            />
            <Choice
              id="after"
              history={history}
              value={after}
              choose={(name) => choose(before, name)}
            />
          </div>
          <Differences before={textOf(before)} after={textOf(after)} />
        </>
      )}
      <p class="leave">
        <a href="#">{t('policy.back')}</a>
      </p>
    </View>
  );
}
