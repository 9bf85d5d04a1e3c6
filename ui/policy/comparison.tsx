import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { announce } from '../base/live-region.js';
import { Button } from '../base/button.js';
import { messageText } from '../base/i18n.js';
import { t } from '../base/message.js';
import { View } from '../base/view.js';
import { compare, toHunks, type DiffRow, type Hunk } from './diff.js';
import { linesOf, policyNamed, type History } from './history.js';
import { comparisonLink } from './route.js';

function Line({ row: { kind, text: words, before, after } }: { row: DiffRow }) {
  const inner = <bdi dir="ltr">{words || '\n'}</bdi>;
  if (kind === 'same')
    return (
      <span class="line" data-line={after}>
        {inner}
      </span>
    );
  const sign = (
    <span class="quiet unsaid">
      {t(kind === 'added' ? 'policy.compare.added' : 'policy.compare.removed')}{' '}
    </span>
  );
  return kind === 'added' ? (
    <ins class="line" data-line={after}>
      {sign}
      {inner}
    </ins>
  ) : (
    <del class="line" data-line={before}>
      {sign}
      {inner}
    </del>
  );
}

/** Consecutive lines. Unchanged ones are shown on request and then get the focus. */
function HunkView({ stretch: { folded, rows } }: { stretch: Hunk }) {
  const [open, setOpen] = useState(!folded);
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (folded && open) shown.current?.focus({ preventScroll: true });
  }, [open]);
  if (!open)
    return (
      <div class="fold" dir={messageText('dir') as 'ltr' | 'rtl'}>
        <Button variant="plain" onPress={() => setOpen(true)}>
          {t('policy.compare.unfold', { count: rows.length })}
        </Button>
      </div>
    );
  const label = folded
    ? {
        role: 'group' as const,
        tabIndex: -1,
        'aria-label': t('policy.compare.unfolded', { count: rows.length }),
      }
    : {};
  return (
    <div ref={shown} {...label}>
      {rows.map((row) => (
        <Line key={`${row.kind} ${row.before} ${row.after}`} row={row} />
      ))}
    </div>
  );
}

function Differences({
  history,
  before,
  after,
}: {
  history: History;
  before: string;
  after: string;
}) {
  const [one, other] = [
    policyNamed(history, before)?.spec.cedar ?? '',
    policyNamed(history, after)?.spec.cedar ?? '',
  ];
  const rows = useMemo(() => compare(linesOf(one), linesOf(other)), [one, other]);
  const [added, removed] = (['added', 'removed'] as const).map(
    (kind) => rows.filter((row) => row.kind === kind).length,
  );
  const words =
    added || removed ? t('policy.compare.count', { added, removed }) : t('policy.compare.equal');
  useEffect(() => announce(words), [before, after, words]);
  return (
    <>
      <p class="notice">{words}</p>
      {added || removed ? (
        <div
          class="cedar diff"
          role="group"
          dir="ltr"
          translate={false}
          aria-label={t('policy.compare.label', { before, after })}
        >
          {toHunks(rows).map((stretch, i) => (
            <HunkView key={`${before} ${after} ${i} ${stretch.rows.length}`} stretch={stretch} />
          ))}
        </div>
      ) : null}
    </>
  );
}

interface ChoiceProps {
  id: 'before' | 'after';
  history: History;
  value: string;
  choose: (name: string) => void;
}

function Choice({ id, history, value, choose }: ChoiceProps) {
  return (
    <div class="field">
      <label for={`compare-${id}`}>{t(`policy.compare.${id}`)}</label>
      <select
        id={`compare-${id}`}
        value={value}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {history.all.map((policy) => {
          const { name } = policy.metadata;
          return (
            <option key={name} value={name}>
              {policy === history.inForce ? t('policy.compare.option', { name }) : name}
            </option>
          );
        })}
      </select>
    </div>
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
  const names = history.all.map(({ metadata }) => metadata.name);
  const [newest = '', second = newest] = names;
  const [before, after] = [
    names.includes(between[0]) ? between[0] : second,
    names.includes(between[1]) ? between[1] : newest,
  ];
  const choose = (one: string, other: string): void => location.replace(comparisonLink(one, other));
  return (
    <View title="policy.compare" phase="policy">
      <p class="lead">{t(names.length > 1 ? 'policy.compare.lead' : 'policy.compare.one')}</p>
      {names.length > 1 && (
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
          <Differences history={history} before={before} after={after} />
        </>
      )}
      <p class="leave">
        <a href="#">{t('policy.back')}</a>
      </p>
    </View>
  );
}
