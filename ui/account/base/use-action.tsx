import type { ApiError } from '../../base/api/api.js';
import { Text, t, format } from '../../base/text/message.js';
import { refusalText } from '../../base/refusal-text.js';
import { errorText, Reference } from '../../base/error-page.js';
import { useAccountContext } from './account-context.js';
import { acceptsPasskeyOnly, needsNewSignIn, signIn } from '../../base/passkeys/sign-in.js';
import { useRequest, type Request } from '../../base/api/use-request.js';

/**
 * The actions of one section, one at a time. `explain` returns the text for an error that only this
 * section can have. Without a session, the page says that it is over.
 */
export function useAction(
  explain: (failure: ApiError) => string | undefined = () => undefined,
): Request {
  const { announceError, leave } = useAccountContext();
  const request = useRequest((failure, step) => {
    if (failure.code === 401) {
      leave('over', step);
    } else if (needsNewSignIn(failure)) {
      signIn({ step, prompt: true, passkeyOnly: acceptsPasskeyOnly(failure) });
    } else {
      const text = failure.code === 403 ? t('account.refused', { link: '' }) : errorText(failure);
      announceError(explain(failure) ?? text);
      return false;
    }
    return true;
  });
  const clear = (): void => {
    request.clear();
    announceError(undefined);
  };
  const run: Request['run'] = async (work, step) => {
    if (!request.busy) announceError(undefined);
    return request.run(work, step);
  };
  return { ...request, run, clear };
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
