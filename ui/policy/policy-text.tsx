import { t } from '../base/text/message.js';
import { linesOf } from './history.js';

/** One line: a comment, or a line with the effect highlighted. */
function PolicyLine({ of: line }: { of: string }) {
  if (/^\s*\/\//.test(line)) {
    return (
      <bdi dir="ltr" class="remark">
        {line}
      </bdi>
    );
  }
  const [, effect, rest] = /^(permit|forbid)\b(.*)$/.exec(line) ?? [];
  return (
    <bdi dir="ltr">
      {effect ? (
        <>
          <span class="effect">{effect}</span>
          {rest}
        </>
      ) : (
        line || '\n'
      )}
    </bdi>
  );
}

interface Props {
  name: string;
  text: string;
  /** Only these lines, counted from 1, and without anchors. */
  from?: number;
  to?: number;
}

/** The text of a policy with line numbers, which are not copied. Always left to right. */
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
            <PolicyLine of={line} />
          </span>
        );
      })}
    </pre>
  );
}
