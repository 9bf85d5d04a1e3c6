import type { Interaction } from '../../api.js';
import type { ApiError } from '../../base/api/api.js';
import { remainingMs } from '../../base/api/clock.js';
import { t } from '../../base/text/message.js';
import { errorText } from '../../base/error-page.js';

/** The actions of an interaction that a page can perform. */
export type SignInAction =
  | 'emailchallenge'
  | 'login'
  | 'account'
  | 'passkey'
  | 'consent'
  | 'cancel';

/** An action that failed without ending its view. */
export interface Problem {
  action: SignInAction;
  failure: ApiError;
  /** The text of the alert. */
  text: string;
  /** The error is shown at a field; the alert is for screen readers only. */
  inField: boolean;
}

/** Returns why a code is no longer accepted, by the current state of the interaction. */
function expiredCodeText({ status: { emailChallenge } }: Interaction): string {
  if (!emailChallenge || emailChallenge.triesLeft === 0) return t('code.spent');
  return remainingMs(emailChallenge.expirationTimestamp) > 0
    ? t('code.replaced')
    : t('code.expired');
}

function wrongCodeText({ details: { triesLeft } }: ApiError): string {
  if (triesLeft === undefined) return t('failed');
  return triesLeft ? t('code.wrong', { tries: triesLeft }) : t('code.none');
}

const fieldErrors: Partial<Record<SignInAction, (failure: ApiError) => string>> = {
  emailchallenge: () => t('email.invalid'),
  login: (failure) => {
    if (failure.hasCause('spec.credential.response')) return t('passkey.changed');
    return failure.hasCause('spec.credential') ? t('passkey.refused') : wrongCodeText(failure);
  },
  passkey: () => t('passkey.unaccepted'),
  account: () => t('setup.invalid'),
  consent: () => t('consent.invalid'),
};

/** Returns the text for a failed action. */
export function problemOf(
  action: SignInAction,
  failure: ApiError,
  interaction: Interaction,
): Problem {
  const fieldError = failure.code === 422 ? fieldErrors[action]?.(failure) : undefined;
  if (fieldError) {
    return {
      action,
      failure,
      text: fieldError,
      inField: action !== 'consent' && !failure.hasCause('spec.credential'),
    };
  }
  if (failure.code === 409 && action === 'passkey') {
    return { action, failure, text: t('passkey.many'), inField: false };
  }
  if (failure.code === 410 && action === 'login') {
    return { action, failure, text: expiredCodeText(interaction), inField: true };
  }
  return { action, failure, text: errorText(failure), inField: false };
}
