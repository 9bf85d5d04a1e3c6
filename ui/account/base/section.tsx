import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ApiError } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import type { LiveCollection } from '../../base/api/collection.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { ActionError } from './use-action.js';
import { useAccountContext } from './account-context.js';

/** The sections of the page. */
export type SectionID =
  | 'profile'
  | 'email'
  | 'passkeys'
  | 'sessions'
  | 'apps'
  | 'grants'
  | 'groups'
  | 'decisions'
  | 'reviews'
  | 'data';

/** One section of the page: its heading, and beside it a panel. */
export function Section({
  id,
  hint,
  children,
}: {
  id: SectionID;
  hint?: MessageID;
  children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={id}>
      <div>
        <h2 id={id} tabIndex={-1}>
          {t(`part.${id}`)}
        </h2>
        {hint && <p class="hint">{t(hint)}</p>}
      </div>
      <div class="panel">{children}</div>
    </section>
  );
}

/** Moves the focus to a section whose focused control was removed. */
export const focusSection = (id: string): void => {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
};

/** Shown if one section could not be read. The others are unaffected. */
export function ReadError({ failure, again: retry }: { failure: ApiError; again: () => void }) {
  const { leave } = useAccountContext();
  useEffect(() => {
    if (failure.code === 401) leave('over');
  }, [failure]);
  return (
    <>
      <ActionError failure={failure} />
      <p>
        <Button onPress={retry}>{t('retry')}</Button>
      </p>
    </>
  );
}

interface Props<T> {
  collection: LiveCollection<T>;
  list: MessageID;
  none?: MessageID;
  look: string;
  row: (item: T) => ComponentChildren;
  order: (items: readonly T[]) => readonly T[];
}

/** The list of a section: loading, an error, empty, or its rows. */
export function SectionList<T>({
  collection: { items, failure, reload: again },
  list,
  none,
  look,
  row,
  order,
}: Props<T>) {
  if (!items && failure) return <ReadError failure={failure} again={again} />;
  if (!items) {
    return (
      <p class="hint" aria-busy="true">
        {t('working')}
      </p>
    );
  }
  return (
    <>
      {failure && <ReadError failure={failure} again={again} />}
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
