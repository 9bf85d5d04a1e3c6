import type { Awaitable } from '../../registry/kind.js';
import { StatusError } from '../../registry/status/status.js';

/** The result of an access review. */
export interface AccessReviewResult {
  readonly allowed: boolean;
  /** A rule forbids it; otherwise no rule permits it. */
  readonly denied?: true;
  readonly reason?: string;
}

/** The reasons of a refusal that no rule of the policy's text determined. */
const withoutRule: ReadonlySet<string | undefined> = new Set([undefined, 'default', 'error']);

/** Returns the result of what `authorize` returns or throws. */
export async function reviewResult(
  authorize: () => Awaitable<unknown>,
): Promise<AccessReviewResult> {
  try {
    await authorize();
    return { allowed: true };
  } catch (error) {
    if (error instanceof StatusError && error.code < 500) {
      return {
        allowed: false,
        ...(!withoutRule.has(error.decision?.reasons[0]?.rule) && { denied: true }),
        reason: error.message,
      };
    }
    throw error;
  }
}
