import type { Interaction } from '../api.js';
import type { ApiError } from '../base/api.js';
import { remainingMs } from '../base/clock.js';
import { t } from '../base/message.js';
import { errorText } from '../base/error-page.js';

/** What a page can ask of an interaction. */
export type SignInAction =
  | 'emailchallenge'
  | 'login'
  | 'account'
  | 'passkey'
  | 'consent'
  | 'cancel';

/** An action that failed without ending the view it was asked in. */
export interface Problem {
  action: SignInAction;
  failure: ApiError;
  /** What it means, for the alert. */
  text: string;
  /** It is about a field, where it is seen; the alert is only heard. */
  inField: boolean;
}

/** Why a code is no longer taken, told by what the interaction looks like now. */
function expiredCodeText({ status: { emailChallenge } }: Interaction): string {
  if (!emailChallenge || emailChallenge.triesLeft === 0) return t('code.spent');
  return remainingMs(emailChallenge.expirationTimestamp) > 0
    ? t('code.replaced')
    : t('code.expired');
}

function wrongCodeText({ details: { triesLeft } }: ApiError): string {
  if (triesLeft === undefined) return t('code.shape');
  return triesLeft ? t('code.wrong', { tries: triesLeft }) : t('code.none');
}

const fieldErrors: Partial<Record<SignInAction, (failure: ApiError) => string>> = {
  emailchallenge: () => t('email.invalid'),
  login: (failure) =>
    failure.hasCause('spec.credential') ? t('passkey.refused') : wrongCodeText(failure),
  passkey: () => t('passkey.unaccepted'),
  account: () => t('setup.invalid'),
  consent: () => t('consent.invalid'),
};

/** Puts a failed action into words. */
export function problemOf(
  action: SignInAction,
  failure: ApiError,
  interaction: Interaction,
): Problem {
  const fieldError = failure.code === 422 ? fieldErrors[action]?.(failure) : undefined;
  if (fieldError)
    return {
      action,
      failure,
      text: fieldError,
      inField: action !== 'consent' && !failure.hasCause('spec.credential'),
    };
  if (failure.code === 409 && action === 'passkey')
    return { action, failure, text: t('passkey.many'), inField: false };
  if (failure.code === 410 && action === 'login')
    return { action, failure, text: expiredCodeText(interaction), inField: true };
  return { action, failure, text: errorText(failure), inField: false };
}
