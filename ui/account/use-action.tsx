import { useState } from 'preact/hooks';
import { ApiError } from '../base/api.js';
import { t, format } from '../base/message.js';
import { errorText, Reference } from '../base/error-page.js';
import { useAccountContext } from './account-context.js';
import { signIn } from './redirects.js';

/** The API wants a newer sign-in for this (403 with that cause). */
const needsNewSignIn = ({ code, details }: ApiError): boolean =>
  code === 403 &&
  Boolean(details.causes?.some(({ reason }) => reason === 'ReauthenticationRequired'));

/** No other way to sign in suffices for it. */
const acceptsPasskeyOnly = ({ details: { methods } }: ApiError): boolean =>
  methods?.length === 1 && methods[0] === 'Passkey';

/** Something that a person does here: whether it is under way, and what went wrong. */
export interface Action {
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /**
   * Does it; true once it is done. Where the API wants a newer sign-in it leads there and back to
   * `step`.
   */
  run: (work: () => Promise<void>, step?: string) => Promise<boolean>;
  /** Forgets what went wrong. */
  clear: () => void;
}

/**
 * What one part of the page does, one thing at a time. `explain` has words for what it alone can
 * meet.
 */
export function useAction(
  explain: (failure: ApiError) => string | undefined = () => undefined,
): Action {
  const { announceError } = useAccountContext();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const fail = (thrown: unknown, step: string | undefined): false => {
    if (!(thrown instanceof ApiError)) throw thrown;
    if (thrown.code === 401) signIn({ step });
    else if (needsNewSignIn(thrown))
      signIn({ step, prompt: true, passkeyOnly: acceptsPasskeyOnly(thrown) });
    else {
      setFailure(thrown);
      announceError(
        explain(thrown) ??
          (thrown.code === 403 ? t('account.refused', { link: '' }) : errorText(thrown)),
      );
    }
    return false;
  };
  const clear = (): void => {
    setFailure(undefined);
    announceError(undefined);
  };
  const run = async (work: () => Promise<void>, step?: string): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    clear();
    try {
      await work();
      return true;
    } catch (thrown) {
      return fail(thrown, step);
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, run, clear };
}

/** What went wrong, where it did. */
export function ActionError({
  failure,
  text,
}: {
  failure: ApiError | undefined;
  text?: string | undefined;
}) {
  if (!failure) return null;
  const message =
    text ??
    (failure.code === 403
      ? format('account.refused', { link: <a href="/policy">{t('account.refused.link')}</a> })
      : errorText(failure));
  return (
    <div class="notice bad">
      <p>{message}</p>
      {!text && <Reference failure={failure} />}
    </div>
  );
}
