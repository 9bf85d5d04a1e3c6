import { ApiError } from '../../base/api/api.js';
import { t } from '../../base/text/message.js';
import { Act } from '../base/act.js';
import type { Kind } from '../base/kind.js';
import { deleteCommand, deleteObject } from '../base/kubectl.js';

interface Props {
  kind: Kind;
  names: readonly string[];
}

/** Deletes the selected objects one after the other; the first refusal ends it, and is shown. */
export const BulkDelete = ({ kind, names }: Props) => (
  <Act
    label={t('table.delete')}
    command={names.map((name) => deleteCommand(kind, name)).join('\n')}
    isDanger
    work={async () => {
      for (const name of names) {
        await deleteObject(kind, name).catch((thrown: unknown) => {
          const isGone = thrown instanceof ApiError && thrown.code === 404;
          if (!isGone) throw thrown;
        });
      }
    }}
    done={t('table.delete.done')}
  >
    {t('table.delete.what', { count: names.length })}
  </Act>
);
