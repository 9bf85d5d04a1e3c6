import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { announce } from '../base/live-region.js';
import { Button } from '../base/button.js';
import { messageText } from '../base/text/i18n.js';
import { t } from '../base/text/message.js';
import { compare, toHunks, type DiffRow, type Hunk } from './diff.js';
import { linesOf } from './history.js';

function Line({ row: { kind, text: words, before, after } }: { row: DiffRow }) {
  const inner = <bdi dir="ltr">{words || '\n'}</bdi>;
  if (kind === 'same') {
    return (
      <span class="line" data-line={after}>
        {inner}
      </span>
    );
  }
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
  if (!open) {
    return (
      <div class="fold" dir={messageText('dir') as 'ltr' | 'rtl'}>
        <Button variant="plain" onPress={() => setOpen(true)}>
          {t('policy.compare.unfold', { count: rows.length })}
        </Button>
      </div>
    );
  }
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

/** A text with the name that labels it. */
interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** The differences of two texts line by line, with their count. */
export function Differences({ before, after }: { before: NamedText; after: NamedText }) {
  const rows = useMemo(
    () => compare(linesOf(before.text), linesOf(after.text)),
    [before.text, after.text],
  );
  const [added, removed] = (['added', 'removed'] as const).map(
    (kind) => rows.filter((row) => row.kind === kind).length,
  );
  const words =
    added || removed ? t('policy.compare.count', { added, removed }) : t('policy.compare.equal');
  useEffect(() => announce(words), [before.name, after.name, words]);
  return (
    <>
      <p class="notice">{words}</p>
      {added || removed ? (
        <div
          class="cedar diff"
          role="group"
          dir="ltr"
          translate={false}
          aria-label={t('policy.compare.label', {
            before: before.name,
            after: after.name,
          })}
        >
          {toHunks(rows).map((stretch, i) => (
            <HunkView
              key={`${before.name} ${after.name} ${i} ${stretch.rows.length}`}
              stretch={stretch}
            />
          ))}
        </div>
      ) : null}
    </>
  );
}
