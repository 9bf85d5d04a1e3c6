import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { MessageID } from '../messages/catalog.js';
import { useAppearance } from './api/appearance.js';
import { t, format } from './text/message.js';

interface Props {
  title: MessageID;
  values?: Record<string, string>;
  /** The heading, where it is more than the text of the title. */
  heading?: ComponentChildren;
  /** The data-phase of `main` once the view is ready for input. */
  phase: string;
  /** Milliseconds until it is ready. */
  delayMs?: number;
  /** The first field gets the focus, not the heading: there is nothing to read before it. */
  startsInField?: boolean;
  /** The view is an error page or contains an error. */
  error?: boolean;
  /** Shown above the heading. */
  header?: ComponentChildren;
  children: ComponentChildren;
}

/** Typing on the heading moves the focus to the first field. */
function focusFirstField(event: KeyboardEvent): void {
  const isTyping =
    event.key.length === 1 &&
    event.key !== ' ' &&
    !event.ctrlKey &&
    !event.metaKey &&
    !event.altKey;
  if (isTyping) firstField()?.focus();
}

const firstField = (): HTMLElement | null =>
  document.querySelector<HTMLElement>('main input:not([type=checkbox])');

/**
 * One view of a page. Its heading, or its first field, gets the focus when the view appears, and the
 * document gets its title.
 */
export function View({
  title,
  values = {},
  heading: shown,
  phase,
  delayMs: readyAfterMs = 0,
  startsInField = false,
  error = false,
  header,
  children,
}: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const words = t(title, values);
  const { displayName } = useAppearance();
  useLayoutEffect(() => {
    const view = error ? t('error', { title: words }) : words;
    document.title = displayName ? `${view} – ${displayName}` : view;
  }, [words, error, displayName]);
  useEffect(() => {
    // after drawing: focusing earlier would make the script wait for the layout
    const start = (startsInField && firstField()) || heading.current;
    start?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  useEffect(() => {
    const ready = (): void => {
      document.querySelector('main')!.dataset.phase = phase;
    };
    if (!readyAfterMs) return ready();
    const timer = setTimeout(ready, readyAfterMs);
    return () => clearTimeout(timer);
  }, [phase]);
  return (
    <>
      {header}
      <h1 tabIndex={-1} ref={heading} onKeyDown={focusFirstField}>
        {shown ?? format(title, values)}
      </h1>
      {children}
    </>
  );
}
