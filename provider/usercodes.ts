import type { AdapterPayload } from 'oidc-provider';
import type { Limit } from '../registry/limits.js';
import { cookieValue } from './cookies.js';
import type { Origin } from './exchange.js';
import type { Foundation } from './foundation.js';
import { returnTry, spendTry } from './tries.js';

const bySession: Limit = { name: 'user-code-session', most: 5, seconds: 900 };
const byNetwork: Limit = { name: 'user-code-network', most: 20, seconds: 900 };

/** Looks a user code up, spending a try of the session and of the network first; a code that exists gives them back (RFC 8628 5.1). */
export async function spendUserCode(on: Foundation, origin: Origin, find: () => Promise<AdapterPayload | undefined>): Promise<AdapterPayload | undefined> {
  const session = cookieValue(origin.request?.headers.cookie, on.cookies.session);
  const subjects: (readonly [Limit, string | undefined])[] = [[bySession, session], [byNetwork, origin.network]];
  const counted = subjects.filter((subject): subject is readonly [Limit, string] => subject[1] !== undefined);
  for (const [limit, subject] of counted) await spendTry(on, limit, subject);
  const found = await find();
  if (found) for (const [limit, subject] of counted) await returnTry(on, limit, subject);
  return found;
}
