import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { useClickGuard } from '../../base/click-guard.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { Failure, Kubectl } from './parts.js';
import { useRequest } from './use-request.js';

interface Props {
  /** The text of both buttons. */
  label: string;
  /** What will happen, in words. */
  children: ComponentChildren;
  /** The command that does the same. */
  command: string;
  /** It takes something away. */
  isDanger?: boolean;
  work: () => Promise<unknown>;
  /** Said after it was done. */
  done: string;
}

/** The second step: says what will happen, with the command that does the same. */
function Question({
  label,
  children,
  command,
  isDanger,
  work,
  done,
  onEnd,
}: Props & { onEnd: () => void }) {
  const { busy, failure, run } = useRequest();
  const place = useRef<HTMLDivElement>(null);
  const isMeant = useClickGuard(true);
  useEffect(() => place.current?.focus(), []);
  const confirm = (): Promise<boolean> =>
    run(async () => {
      await work();
      announce(done);
      onEnd();
    });
  return (
    <div
      class={isDanger ? 'confirm' : 'confirm harmless'}
      role="group"
      tabIndex={-1}
      ref={place}
      aria-label={label}
    >
      <p>{children}</p>
      {failure && <Failure failure={failure} isChange />}
      <Kubectl command={command} />
      <div class="pair">
        <Button
          variant={isDanger ? 'danger' : 'main'}
          busy={busy}
          progress="console.saving"
          onPress={() => {
            if (isMeant()) void confirm();
          }}
        >
          {label}
        </Button>
        <Button onPress={onEnd}>{t('console.cancel')}</Button>
      </div>
    </div>
  );
}

/** A button for one change, which first says what it does. */
export function Act(props: Props) {
  const [isAsking, setAsking] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const end = (): void => {
    setAsking(false);
    requestAnimationFrame(() => place.current?.querySelector('button')?.focus());
  };
  return (
    <div class="act" ref={place}>
      {isAsking ? (
        <Question {...props} onEnd={end} />
      ) : (
        <Button variant="small" onPress={() => setAsking(true)}>
          {props.label}
        </Button>
      )}
    </div>
  );
}
