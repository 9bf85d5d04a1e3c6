import type { Interaction } from '../../api.js';
import type { ApiError } from '../../base/api/api.js';
import { remainingMs } from '../../base/api/clock.js';
import type { Texts } from '../../base/text/local-text.js';

/** Why a sign-in cannot continue. */
export type Blocked =
  | {
      kind:
        | 'lost'
        | 'over'
        | 'elsewhere'
        | 'foreign'
        | 'linkexpired'
        | 'linkused'
        | 'linkreplaced'
        | 'unavailable';
      failure?: ApiError | undefined;
    }
  | {
      kind: 'refused';
      failure?: ApiError | undefined;
      message: string;
      messages: Texts;
      decision?: string | undefined;
    };

/**
 * Returns what a failed GET of the interaction means. `link` is true if an emailed link was opened.
 */
export function blockedByRead(failure: ApiError, link: boolean): Blocked {
  if (failure.code === 404) return { kind: link ? 'elsewhere' : 'lost', failure };
  return { kind: failure.code === 410 ? 'over' : 'unavailable', failure };
}

/** Returns what a refusal by policy or of a link means, or undefined if the view can continue. */
export function blockedByAction(failure: ApiError, link: boolean): Blocked | undefined {
  if (failure.code === 404) return { kind: 'lost', failure };
  if (failure.code !== 403) return undefined;
  const decision = failure.details.policyDecision;
  if (decision) {
    return {
      kind: 'refused',
      message: failure.message.replace(
        /^[^:]* is forbidden: (User "[^"]*" cannot [^:]* at the cluster scope: )?/,
        '',
      ),
      messages: failure.details.messages,
      decision,
      failure,
    };
  }
  return link ? { kind: 'foreign', failure } : undefined;
}

/** Returns why a link is no longer valid, by the current state of the interaction. */
export function blockedByLink(
  { status: { phase, emailChallenge } }: Interaction,
  failure: ApiError,
): Blocked {
  if (phase !== 'LoginRequired' || !emailChallenge) return { kind: 'linkused', failure };
  return {
    kind: remainingMs(emailChallenge.expirationTimestamp) > 0 ? 'linkreplaced' : 'linkexpired',
    failure,
  };
}
