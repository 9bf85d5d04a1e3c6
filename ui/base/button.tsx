import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { MessageID } from '../messages/catalog.js';
import { announce } from './live-region.js';
import { t } from './text/message.js';

/**
 * Returns true after `busy` has lasted 400 ms. Only then is progress announced, and never after the
 * result.
 */
function useSlow(busy: boolean, progress: MessageID): boolean {
  const [slow, set] = useState(false);
  useLayoutEffect(() => {
    set(false);
    if (!busy) return undefined;
    const timer = setTimeout(() => {
      set(true);
      announce(t(progress));
    }, 400);
    return () => clearTimeout(timer);
  }, [busy]);
  return slow && busy;
}

interface Props {
  /**
   * `main` for the main action, `danger` for one that removes something, `small` in a row, `plain`
   * for a way out.
   */
  variant?: 'main' | 'plain' | 'danger' | 'small' | undefined;
  submit?: boolean;
  busy?: boolean;
  progress?: MessageID;
  /** Disabled, but still focusable. */
  disabled?: boolean;
  describedBy?: string;
  id?: string;
  onPress?: () => void;
  children: ComponentChildren;
}

/**
 * A button that shows at once that it was pressed. It keeps the focus while it is disabled or busy.
 */
export function Button({
  variant,
  submit,
  busy = false,
  progress = 'working',
  disabled,
  describedBy,
  id,
  onPress,
  children,
}: Props) {
  const slow = useSlow(busy, progress);
  return (
    <button
      id={id}
      type={submit ? 'submit' : 'button'}
      class={`button ${variant ?? ''}`}
      data-busy={busy || undefined}
      aria-disabled={disabled || busy || undefined}
      aria-describedby={describedBy}
      onClick={(event) => {
        if (disabled || busy) {
          event.preventDefault();
        } else {
          onPress?.();
        }
      }}
    >
      {slow ? t(progress) : children}
    </button>
  );
}
