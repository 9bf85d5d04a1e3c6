import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import { English } from '../base/parts.js';
import { isSame, withValue, type FieldChange, type JsonObject } from '../base/merge.js';
import { toYaml } from '../base/yaml.js';

type Side = 'mine' | 'theirs';

const sideOf = ({ isConflict, before, mine }: FieldChange): Side | undefined => {
  if (isConflict) return undefined;
  return isSame(before, mine) ? 'theirs' : 'mine';
};

function Version({ value }: { value: unknown }) {
  if (value === undefined) return <span class="hint">{t('console.none')}</span>;
  const text = typeof value === 'object' && value !== null ? toYaml(value) : String(value);
  return (
    <pre dir="auto" class="version">
      {text}
    </pre>
  );
}

interface ChoiceProps {
  change: FieldChange;
  side: Side | undefined;
  onChoose: (side: Side) => void;
}

function Choice({ change, side, onChoose }: ChoiceProps) {
  const field = change.path.join('.');
  const known = sideOf(change);
  return (
    <fieldset class="choice">
      <legend>
        <English>{field}</English>{' '}
        <span class={`word ${known ? '' : 'sensitive'}`}>
          {t(known ? `console.changed.${known}` : 'console.changed.both')}
        </span>
      </legend>
      <div class="versions">
        {(['mine', 'theirs'] as const).map((choice) => (
          <label>
            <span>
              <input
                type="radio"
                name={field}
                checked={side === choice}
                onChange={() => onChoose(choice)}
              />{' '}
              {t(`console.version.${choice}`)}
            </span>
            <Version value={change[choice]} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface Props {
  theirs: JsonObject;
  changes: readonly FieldChange[];
  onMerge: (merged: JsonObject) => void;
  onCancel: () => void;
}

/** Two versions of an object, field by field, of which the person makes one. */
export function Conflict({ theirs, changes, onMerge, onCancel }: Props) {
  const [chosen, setChosen] = useState<readonly (Side | undefined)[]>(() => changes.map(sideOf));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const open = chosen.filter((side) => !side).length;
  const merge = (): void =>
    onMerge(
      changes.reduce<JsonObject>(
        (object, change, i) => withValue(object, change.path, change[chosen[i]!]),
        theirs,
      ),
    );
  return (
    <section aria-labelledby="conflict">
      <h2 id="conflict" tabIndex={-1} ref={heading}>
        {t('console.conflict')}
      </h2>
      <p class="lead">{t('console.conflict.what')}</p>
      {changes.map((change, i) => (
        <Choice
          key={change.path.join('.')}
          change={change}
          side={chosen[i]}
          onChoose={(side) => setChosen(chosen.with(i, side))}
        />
      ))}
      <Status look="hint">{open > 0 && t('console.conflict.open', { count: open })}</Status>
      <div class="pair">
        <Button variant="main" disabled={open > 0} onPress={merge}>
          {t('console.conflict.save')}
        </Button>
        <Button onPress={onCancel}>{t('console.conflict.back')}</Button>
      </div>
    </section>
  );
}
