import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ApiError } from '../base/api.js';
import { Button } from '../base/button.js';
import type { Kept } from '../base/collection.js';
import { t } from '../base/message.js';
import type { MessageID } from '../messages/catalog.js';
import { Fault } from './use-action.js';
import { signIn } from './redirects.js';

/** The parts of the page, in order. */
export const parts = [
  'profile',
  'email',
  'passkeys',
  'sessions',
  'grants',
  'decisions',
  'reviews',
  'data',
] as const;
export type PartID = (typeof parts)[number];

/** One part of the page under its heading. */
export function Section({
  id,
  hint,
  children,
}: {
  id: PartID;
  hint?: MessageID;
  children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id} tabIndex={-1}>
        {t(`part.${id}`)}
      </h2>
      {hint && <p class="hint">{t(hint)}</p>}
      {children}
    </section>
  );
}

/** Leads the keyboard to a part whose control has just gone. */
export const toPart = (id: string): void => {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
};

/** A part could not be read: the others stand. */
export function Unread({ failure, again }: { failure: ApiError; again: () => void }) {
  useEffect(() => {
    if (failure.code === 401) signIn();
  }, [failure]);
  return (
    <>
      <Fault failure={failure} />
      <p>
        <Button press={again}>{t('retry')}</Button>
      </p>
    </>
  );
}

interface Props<T> {
  of: Kept<T>;
  list: MessageID;
  none?: MessageID;
  look: string;
  row: (item: T) => ComponentChildren;
  order: (items: readonly T[]) => readonly T[];
}

/** The list of a part: not read yet, unreadable, empty, or its rows. */
export function Listed<T>({
  of: { items, failure, again },
  list,
  none,
  look,
  row,
  order,
}: Props<T>) {
  if (!items && failure) return <Unread failure={failure} again={again} />;
  if (!items)
    return (
      <p class="hint" aria-busy="true">
        {t('working')}
      </p>
    );
  return (
    <>
      {failure && <Unread failure={failure} again={again} />}
      {items.length === 0 && none ? (
        <p class="lead">{t(none)}</p>
      ) : (
        <ul class={look} aria-label={t(list)}>
          {order(items).map(row)}
        </ul>
      )}
    </>
  );
}
