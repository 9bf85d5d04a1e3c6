import { Provider } from 'oidc-provider';
import type { CurrentAppearance } from '../../kinds/appearance/appearance-index.js';
import type { Scope } from '../../kinds/apps/claims/scopes.js';
import type { NotifyClient } from './logout-notice.js';

/**
 * A Provider of oidc-provider with the scopes, the key version and the Appearance it was created
 * with, its request handler, and the function that notifies Clients of a logout.
 */
export interface BuiltProvider {
  readonly scopes: readonly Scope[];
  readonly keysVersion: number;
  readonly appearance: CurrentAppearance;
  readonly provider: Provider;
  readonly callback: ReturnType<Provider['callback']>;
  readonly notify: NotifyClient;
}
