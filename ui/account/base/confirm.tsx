import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { useClickGuard } from '../../base/click-guard.js';
import { t } from '../../base/text/message.js';
import type { Request } from '../../base/api/use-request.js';
import { ActionError } from './use-action.js';

interface Props {
  /** What will happen, in words. */
  children: ComponentChildren;
  /** The action and its error; `errorText` replaces the general text of the error. */
  action: Pick<Request, 'busy' | 'failure'>;
  errorText?: string | undefined;
  onConfirm: () => unknown;
  onCancel: () => void;
  /** The focus does not move here. */
  keepFocus?: boolean;
}

/**
 * The second step of every action that removes something: says what will happen, and takes the
 * focus unless `keepFocus` is set.
 */
export function Confirm({
  children,
  action: { busy, failure },
  errorText,
  onConfirm,
  onCancel,
  keepFocus,
}: Props) {
  const place = useRef<HTMLDivElement>(null);
  const ready = useClickGuard(true);
  useEffect(() => {
    if (!keepFocus) place.current?.focus();
  }, []);
  return (
    <div class="confirm" role="group" tabIndex={-1} ref={place} aria-label={t('confirm')}>
      {children}
      <ActionError failure={failure} text={errorText} />
      <div class="pair">
        <Button
          variant="danger"
          busy={busy}
          progress="confirm.progress"
          onPress={() => {
            if (ready()) onConfirm();
          }}
        >
          {t('confirm')}
        </Button>
        <Button onPress={onCancel}>{t('confirm.keep')}</Button>
      </div>
    </div>
  );
}
