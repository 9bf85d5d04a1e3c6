import { useState } from 'preact/hooks';
import { ApiError } from '../../base/api/api.js';
import { Text, t, format } from '../../base/text/message.js';
import { refusalText } from '../../base/refusal-text.js';
import { errorText, Reference } from '../../base/error-page.js';
import { useAccountContext } from './account-context.js';
import { acceptsPasskeyOnly, needsNewSignIn, signIn } from '../../base/passkeys/sign-in.js';

/** An action of the person: whether it is pending, and its error. */
export interface Action {
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /**
   * Runs it. Returns true if it succeeded. If the API requires a newer sign-in, leaves for one that
   * returns to `step`; without a session, says that it is over.
   */
  run: (work: () => Promise<void>, step?: string) => Promise<boolean>;
  /** Clears the error. */
  clear: () => void;
}

/**
 * The actions of one section, one at a time. `explain` returns the text for an error that only this
 * section can have.
 */
export function useAction(
  explain: (failure: ApiError) => string | undefined = () => undefined,
): Action {
  const { announceError, leave } = useAccountContext();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  const fail = (thrown: unknown, step: string | undefined): false => {
    if (!(thrown instanceof ApiError)) throw thrown;
    if (thrown.code === 401) leave('over', step);
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

/** The error of an action, next to it. */
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
      {!text && failure.code === 403 && (
        <p>
          <Text of={refusalText(failure)} max={500} />
        </p>
      )}
      {!text && <Reference failure={failure} />}
    </div>
  );
}
