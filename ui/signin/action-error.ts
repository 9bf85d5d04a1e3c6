import type { Interaction } from '../api.js';
import type { ApiError } from '../base/api.js';
import { until } from '../base/clock.js';
import { t } from '../base/message.js';
import { excuse } from '../base/error-page.js';

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
  words: string;
  /** It is about a field, where it is seen; the alert is only heard. */
  quiet: boolean;
}

/** Why a code is no longer taken, told by what the interaction looks like now. */
function whyOver({ status: { emailChallenge } }: Interaction): string {
  if (!emailChallenge || emailChallenge.triesLeft === 0) return t('code.spent');
  return until(emailChallenge.expirationTimestamp) > 0 ? t('code.replaced') : t('code.expired');
}

function wrongCode({ details: { triesLeft } }: ApiError): string {
  if (triesLeft === undefined) return t('code.shape');
  return triesLeft ? t('code.wrong', { tries: triesLeft }) : t('code.none');
}

const inField: Partial<Record<SignInAction, (failure: ApiError) => string>> = {
  emailchallenge: () => t('email.invalid'),
  login: (failure) =>
    failure.names('spec.credential') ? t('passkey.refused') : wrongCode(failure),
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
  const told = failure.code === 422 ? inField[action]?.(failure) : undefined;
  if (told)
    return {
      action,
      failure,
      words: told,
      quiet: action !== 'consent' && !failure.names('spec.credential'),
    };
  if (failure.code === 409 && action === 'passkey')
    return { action, failure, words: t('passkey.many'), quiet: false };
  if (failure.code === 410 && action === 'login')
    return { action, failure, words: whyOver(interaction), quiet: true };
  return { action, failure, words: excuse(failure), quiet: false };
}
