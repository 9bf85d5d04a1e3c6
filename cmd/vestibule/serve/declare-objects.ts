import { declareAppearance } from '../../../kinds/appearance/appearance.js';
import { declareBuiltIn } from '../../../kinds/apps/claims/scope-index.js';
import { cancelRestoredRecoveries } from '../../../kinds/people/recovery/worker.js';
import { declareSettings } from '../../../kinds/settings/settings.js';
import type { Log } from '../../../observability/log.js';
import type { Store } from '../../../registry/store/store.js';

/** Creates the objects that are always there. */
export async function declareObjects(store: Store, log: Log): Promise<void> {
  await Promise.all([
    declareAppearance(store),
    declareSettings(store),
    declareBuiltIn(store),
    cancelRestoredRecoveries(store, log),
  ]);
}
