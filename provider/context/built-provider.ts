import { Provider } from 'oidc-provider';
import type { Scope } from '../../kinds/claims/scopes.js';
import type { NotifyClient } from './logout-notice.js';

/**
 * A Provider of the library, the scopes and the version of the keys it was made of, its request
 * handler, and how it tells Clients of a sign-out.
 */
export interface BuiltProvider {
  readonly scopes: readonly Scope[];
  readonly keys: number;
  readonly provider: Provider;
  readonly callback: ReturnType<Provider['callback']>;
  readonly tell: NotifyClient;
}
