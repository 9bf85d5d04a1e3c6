import { Lazy } from '../../base/api/lazy.js';
import { withMessages } from './lazy-refusal.js';

/** The WebAuthn calls, loaded when they are needed. */
export const passkeysChunk = new Lazy(() => import('./passkeys.js').then(withMessages));
