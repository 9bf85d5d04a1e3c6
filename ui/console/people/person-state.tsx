import { t } from '../../base/text/message.js';

interface Props {
  isDeleting: boolean;
  isDisabled: boolean;
}

/** The state of an account, by a word and the shape of its mark. */
export function PersonState({ isDeleting, isDisabled }: Props) {
  if (isDeleting) return <span class="state bad square">{t('console.people.deleting')}</span>;
  if (isDisabled) return <span class="state bad square">{t('console.people.disabled')}</span>;
  return <span class="state ok">{t('console.people.active')}</span>;
}
