import { Button } from '../../base/button.js';
import { Icon } from '../../base/frame/icon.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import type { Edits } from './use-edits.js';

/** Says that what is typed is not saved yet, and saves or forgets all of it. */
export const Unsaved = ({ edits, words }: { edits: Edits; words: string }) => (
  <>
    {!edits.patch && edits.saved.length > 0 && (
      <span class="saved">
        <Icon of="check" /> {t('console.edit.saved')}
      </span>
    )}
    {edits.patch && (
      <>
        <Status look="hint unsaved">{t('console.edit.unsaved')}</Status>
        <Button variant="plain" onPress={edits.discard}>
          {t('console.edit.discard')}
        </Button>
      </>
    )}
    <Button
      variant="main"
      disabled={!edits.patch}
      busy={edits.busy}
      progress="console.saving"
      onPress={edits.save}
    >
      {words}
    </Button>
  </>
);
