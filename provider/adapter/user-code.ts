import type { AdapterPayload } from 'oidc-provider';
import type { LimitOf } from '../../registry/limits/rate-limit.js';
import type { ProviderServices } from '../context/context.js';
import { cookieValue } from '../context/cookies.js';
import type { Origin } from '../context/request-state.js';
import { returnAttempt, spendAttempt, spendNetworkAttempt } from './attempt-limit.js';

const sessionLimit: LimitOf = ({ wrongUserCodesPerSession, wrongCodeWindow }) => ({
  name: 'user-code-session',
  setting: 'wrongUserCodesPerSession',
  max: wrongUserCodesPerSession,
  seconds: wrongCodeWindow / 1000,
});

/** Limits wrong user codes by client network. */
export const userCodeLimit: LimitOf = ({ wrongUserCodesPerNetwork, wrongCodeWindow }) => ({
  name: 'user-code-network',
  setting: 'wrongUserCodesPerNetwork',
  max: wrongUserCodesPerNetwork,
  seconds: wrongCodeWindow / 1000,
});

/**
 * Looks up a user code. Counts an attempt of the session and of the network first, and takes it
 * back if the code exists (RFC 8628 §5.1).
 */
export async function spendUserCode(
  services: ProviderServices,
  origin: Origin,
  find: () => Promise<AdapterPayload | undefined>,
): Promise<AdapterPayload | undefined> {
  const session = cookieValue(origin.request?.headers.cookie, services.pages.cookies.session);
  const { network } = origin;
  const [bySession, byNetwork] = [
    sessionLimit(services.settings.limits),
    userCodeLimit(services.settings.limits),
  ];
  if (network !== undefined) await spendNetworkAttempt(services, byNetwork, network);
  if (session !== undefined) await spendAttempt(services, bySession, session);
  const found = await find();
  if (!found) return undefined;
  if (network !== undefined) services.store.networkLimits.refund(byNetwork, network, Date.now());
  if (session !== undefined) await returnAttempt(services, bySession, session);
  return found;
}
