import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../base/button.js';
import { useGuard } from '../base/double-submit.js';
import { t } from '../base/message.js';
import { Fault, type Act } from './use-action.js';

interface Props {
  /** What would happen, in words. */
  children: ComponentChildren;
  /** What is being done, and what went wrong; `words` for what it alone can meet. */
  act: Pick<Act, 'busy' | 'failure'>;
  words?: string | undefined;
  confirm: () => unknown;
  keep: () => void;
  /** The keyboard stays where it is. */
  still?: boolean;
}

/**
 * The second step of whatever takes something away: says what would happen, and takes the keyboard
 * there unless it is `still`.
 */
export function Confirm({ children, act: { busy, failure }, words, confirm, keep, still }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const ready = useGuard(true);
  useEffect(() => {
    if (!still) place.current?.focus();
  }, []);
  return (
    <div class="confirm" role="group" tabIndex={-1} ref={place} aria-label={t('confirm')}>
      {children}
      <Fault failure={failure} words={words} />
      <div class="pair">
        <Button
          look="danger"
          busy={busy}
          progress="confirm.progress"
          press={() => {
            if (ready()) confirm();
          }}
        >
          {t('confirm')}
        </Button>
        <Button press={keep}>{t('confirm.keep')}</Button>
      </div>
    </div>
  );
}
