import { t } from '../base/message.js';
import { linesOf } from './history.js';

/** How a line looks: a remark, or the word that a rule begins with. */
function Words({ of }: { of: string }) {
  if (/^\s*\/\//.test(of))
    return (
      <bdi dir="ltr" class="remark">
        {of}
      </bdi>
    );
  const [, effect, rest] = /^(permit|forbid)\b(.*)$/.exec(of) ?? [];
  return (
    <bdi dir="ltr">
      {effect ? (
        <>
          <span class="effect">{effect}</span>
          {rest}
        </>
      ) : (
        of || '\n'
      )}
    </bdi>
  );
}

interface Props {
  name: string;
  text: string /** Only these lines, counted from 1; without places to go to. */;
  from?: number;
  to?: number;
}

/**
 * A policy's text as it stands, its lines numbered; the numbers are no text, so they are not
 * copied. Always left to right.
 */
export function PolicyText({ name, text, from, to }: Props) {
  const lines = linesOf(text).slice((from ?? 1) - 1, to);
  return (
    <pre
      class="cedar"
      dir="ltr"
      lang="en"
      translate={false}
      aria-label={from ? undefined : t('policy.text.label', { name })}
      role={from ? undefined : 'group'}
    >
      {lines.map((line, i) => {
        const number = (from ?? 1) + i;
        return (
          <span
            key={number}
            class="line"
            id={from ? undefined : `line-${number}`}
            tabIndex={from ? undefined : -1}
            data-line={number}
          >
            <Words of={line} />
          </span>
        );
      })}
    </pre>
  );
}
