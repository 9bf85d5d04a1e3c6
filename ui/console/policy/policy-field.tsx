import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { t } from '../../base/text/message.js';
import type { PolicyEditor } from './policy-editor.js';
import type { Fault, TextPosition } from './policy-faults.js';
import { English } from '../base/parts.js';

const editorChunk = new Lazy(() => import('./policy-editor.js'));

const ids = { label: 'policy-text-label', hint: 'policy-text-hint', field: 'policy-text' };

interface Props {
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly isReadOnly: boolean;
  readonly onText: (text: string) => void;
  readonly onLine: (line: number) => void;
  /** A place that was asked for: each new one moves the cursor and the focus. */
  readonly place: TextPosition | undefined;
}

/** Moves the cursor and the focus of a textarea to a position. */
function goToInTextarea(area: HTMLTextAreaElement, { line, column }: TextPosition): void {
  const before = area.value.split('\n').slice(0, line - 1);
  const offset = before.reduce((sum, line) => sum + line.length + 1, 0) + column - 1;
  area.focus();
  area.setSelectionRange(offset, offset);
}

/** Opens the editor in the place of the textarea after its chunk is loaded. */
function useEditor({ text, faults, isReadOnly, onText, onLine, place }: Props) {
  const { loaded } = useLazy(editorChunk);
  const area = useRef<HTMLTextAreaElement>(null);
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<PolicyEditor | undefined>(undefined);
  const current = useRef(onText);
  current.current = onText;
  const hadFocus = area.current !== null && area.current === document.activeElement;
  useEffect(() => {
    if (!loaded || !parent.current) return undefined;
    const opened = loaded.openPolicyEditor(parent.current, {
      text,
      label: t('policy.text'),
      isReadOnly,
      onText: (next) => current.current(next),
      onLine,
    });
    editor.current = opened;
    if (hadFocus) opened.focus();
    return () => opened.destroy();
  }, [loaded, isReadOnly]);
  // before the next key: a later effect would put back an older text
  useLayoutEffect(() => editor.current?.setText(text), [text]);
  useEffect(
    () => editor.current?.setFaults(faults.flatMap(({ position }) => position ?? [])),
    [faults, loaded],
  );
  const goTo = (position: TextPosition): void => {
    if (editor.current) {
      editor.current.goTo(position);
    } else if (area.current) {
      goToInTextarea(area.current, position);
    }
  };
  useEffect(() => {
    if (place) goTo(place);
  }, [place, loaded]);
  return { isLoaded: loaded !== undefined, area, parent, goTo };
}

/** The faults, each with a link to its line. */
function FaultList({
  faults,
  goTo,
}: {
  faults: readonly Fault[];
  goTo: (position: TextPosition) => void;
}) {
  return (
    <div class="notice bad">
      <p>{t('policies.faults', { count: faults.length })}</p>
      <ul>
        {faults.map(({ message, position }) => (
          <li key={`${position?.line} ${message}`}>
            {position && (
              <>
                <a
                  href={`#${ids.field}`}
                  onClick={(event) => {
                    event.preventDefault();
                    goTo(position);
                  }}
                >
                  {t('policies.line', { line: String(position.line) })}
                </a>
                {': '}
              </>
            )}
            <English>{message}</English>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The text of a policy with its faults: an editor, or a textarea while there is none. */
export function PolicyField(props: Props) {
  const { text, faults, isReadOnly, onText } = props;
  const { isLoaded, area, parent, goTo } = useEditor(props);
  return (
    <>
      <div class="field policy-text" id={ids.field}>
        <span class="label" id={ids.label}>
          {t('policy.text')}
        </span>
        <p class="hint" id={ids.hint}>
          {t('policies.text.hint')}
        </p>
        {isLoaded ? (
          <div ref={parent} dir="ltr" />
        ) : (
          <textarea
            ref={area}
            class="mono"
            dir="ltr"
            lang="en"
            rows={20}
            spellcheck={false}
            readOnly={isReadOnly}
            aria-labelledby={ids.label}
            aria-describedby={ids.hint}
            aria-invalid={faults.length > 0}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
        )}
      </div>
      {faults.length > 0 && <FaultList faults={faults} goTo={goTo} />}
    </>
  );
}
