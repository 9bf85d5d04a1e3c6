import {
  type Condition,
  type ConditionState,
  withTransitionTimes,
} from '../../../registry/schema/conditions.js';
import { isPrivateHTTP } from './private-host.js';
import { pkceOf } from './security-profile.js';

/** The parts of a Client that its conditions depend on. */
interface ClientState {
  readonly spec: {
    readonly type: 'Public' | 'Confidential';
    readonly pkce?: 'Required' | 'Optional' | undefined;
    readonly profile?: 'FAPI2' | undefined;
    readonly tokenEndpointAuthMethod?: string | undefined;
    readonly grantTypes: readonly string[];
    readonly redirectURIs: readonly string[];
    readonly postLogoutRedirectURIs: readonly string[];
    readonly secretHashes?: readonly string[] | undefined;
  };
  readonly status: { readonly secrets: readonly unknown[] };
}

/** Returns the conditions of a Client. `now` in ms since the epoch. */
export const conditionsOf = (
  client: ClientState,
  before: readonly Condition[] | undefined,
  now: number,
): Condition[] =>
  withTransitionTimes(
    [readyState(client), pkceState(client), ...redirectStates(client)],
    before,
    now,
  );

/** Whether the Client has what the first sign-in needs. */
function readyState({ spec, status }: ClientState): ConditionState {
  const notReady = (reason: string, message: string): ConditionState => ({
    type: 'Ready',
    status: 'False',
    reason,
    message,
  });
  if (spec.grantTypes.includes('authorization_code') && spec.redirectURIs.length === 0) {
    return notReady(
      'NoRedirectURI',
      'It may use the authorization code grant, but spec.redirectURIs is empty.',
    );
  }
  const method =
    spec.tokenEndpointAuthMethod ?? (spec.type === 'Public' ? 'none' : 'client_secret_basic');
  const secrets = status.secrets.length + (spec.secretHashes?.length ?? 0);
  if (method.startsWith('client_secret') && secrets === 0) {
    return notReady(
      'NoSecret',
      'It authenticates with a secret and has none: create one, or set spec.secretHashes.',
    );
  }
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Complete',
    message: 'It has what a sign-in needs.',
  };
}

/** Says so if codes are sent where anyone in the network can read them. */
const redirectStates = ({ spec }: ClientState): ConditionState[] =>
  [...spec.redirectURIs, ...spec.postLogoutRedirectURIs].some(isPrivateHTTP)
    ? [
        {
          type: 'RedirectsUnencrypted',
          status: 'True',
          reason: 'PrivateNetwork',
          message:
            'A redirect URI is http in a private network: anyone who reads its traffic can read codes. ' +
            'They are of no use without the verifier (PKCE) or the secret of this app.',
        },
      ]
    : [];

const pkceState = ({ spec }: ClientState): ConditionState =>
  pkceOf(spec) === 'Optional'
    ? {
        type: 'PKCERequired',
        status: 'False',
        reason: 'Optional',
        message:
          'Authorization requests without a code challenge are accepted: an intercepted code ' +
          'can be redeemed by anyone who has the secret of this app.',
      }
    : {
        type: 'PKCERequired',
        status: 'True',
        reason: 'Required',
        message: 'Every authorization request has a code challenge.',
      };
