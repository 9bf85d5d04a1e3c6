import { useRef, useState } from 'preact/hooks';
import type { PolicyDecision } from '../api.js';
import { Button } from '../base/button.js';
import { t } from '../base/text/message.js';
import { DecisionRow } from './decision-row.js';
import type { Names } from './names.js';

/** Decisions shown at first, and added by each "Show more". */
const pageSize = 20;

interface Props {
  decisions: readonly PolicyDecision[];
  names: Names;
  label: string;
}

/** The first decisions. "Show more" adds the next ones and moves the focus to the first of them. */
export function DecisionList({ decisions, names, label }: Props) {
  const [max, setMax] = useState(pageSize);
  const list = useRef<HTMLUListElement>(null);
  const count = decisions.length;
  const showMore = (): void => {
    setMax(max + pageSize);
    requestAnimationFrame(() => list.current?.children[max]?.querySelector('a')?.focus());
  };
  return (
    <>
      <p class="hint">
        {count > max
          ? t('decisions.shown.some', { shown: max, count })
          : t('decisions.shown', { count })}
      </p>
      <ul ref={list} class="decisions" aria-label={label}>
        {decisions.slice(0, max).map((decision) => (
          <DecisionRow key={decision.metadata.name} decision={decision} names={names} />
        ))}
      </ul>
      {count > max && <Button onPress={showMore}>{t('decisions.more')}</Button>}
    </>
  );
}
