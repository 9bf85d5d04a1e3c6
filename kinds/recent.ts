import type { AnyKind, Call } from '../registry/kind.js';
import { forbidden } from '../registry/status.js';

/** For how long after a proof of who it is somebody may change what a sign-in rests on, in seconds (`api.md` 10). */
const recently = 600;

/** 403 with cause ReauthenticationRequired for a person who signed in too long ago (`security.md` 1.3); Machines and this service itself prove themselves by each request. */
export function requireRecentSignIn({ caller, now }: Pick<Call, 'caller' | 'now'>, kind: AnyKind, name: string): void {
  if (caller.type !== 'Account' || (caller.authenticated !== undefined && Math.floor(now / 1000) - caller.authenticated <= recently)) return;
  throw forbidden('sign in again to change this', kind, name, { causes: [{ reason: 'ReauthenticationRequired', message: `the last sign-in is more than ${recently / 60} minutes ago`, field: '' }] });
}
