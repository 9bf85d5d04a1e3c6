import { Provider } from 'oidc-provider';
import type { Scope } from '../../kinds/claims/scopes.js';
import type { NotifyClient } from './logout-notice.js';

/**
 * A Provider of oidc-provider with the scopes and the key version it was created with, its request
 * handler, and the function that notifies Clients of a logout.
 */
export interface BuiltProvider {
  readonly scopes: readonly Scope[];
  readonly keysVersion: number;
  readonly provider: Provider;
  readonly callback: ReturnType<Provider['callback']>;
  readonly notify: NotifyClient;
}
