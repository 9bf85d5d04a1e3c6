import type { AdapterPayload } from 'oidc-provider';
import type { LimitOf } from '../../registry/rate-limit.js';
import { cookieValue } from '../context/cookies.js';
import type { Origin } from '../context/unit-of-work.js';
import type { Foundation } from '../context/context.js';
import { returnTry, spendNetworkTry, spendTry } from './attempt-limit.js';

const sessionLimit: LimitOf = ({ wrongUserCodesPerSession, wrongCodeWindow }) => ({
  name: 'user-code-session',
  most: wrongUserCodesPerSession,
  seconds: wrongCodeWindow / 1000,
});

/** Limits wrong user codes by client network. */
export const userCodeLimit: LimitOf = ({ wrongUserCodesPerNetwork, wrongCodeWindow }) => ({
  name: 'user-code-network',
  most: wrongUserCodesPerNetwork,
  seconds: wrongCodeWindow / 1000,
});

/**
 * Looks a user code up, spending a try of the session and of the network first; a code that exists
 * gives them back (RFC 8628 5.1).
 */
export async function spendUserCode(
  on: Foundation,
  origin: Origin,
  find: () => Promise<AdapterPayload | undefined>,
): Promise<AdapterPayload | undefined> {
  const session = cookieValue(origin.request?.headers.cookie, on.cookies.session);
  const { network } = origin;
  const [bySession, byNetwork] = [
    sessionLimit(on.settings.limits),
    userCodeLimit(on.settings.limits),
  ];
  if (network !== undefined) await spendNetworkTry(on, byNetwork, network);
  if (session !== undefined) await spendTry(on, bySession, session);
  const found = await find();
  if (!found) return undefined;
  if (network !== undefined) on.store.networkLimits.giveBack(byNetwork, network, Date.now());
  if (session !== undefined) await returnTry(on, bySession, session);
  return found;
}
