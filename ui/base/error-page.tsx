import type { ComponentChildren } from 'preact';
import type { MessageID } from '../messages/catalog.js';
import type { ApiError } from './api.js';
import { relativeTime, t, format } from './message.js';
import { View } from './view.js';

const retryTime = (failure: ApiError): string =>
  relativeTime((failure.details.retryAfterSeconds ?? 1) * 1000);

/**
 * What to say when an action failed for a reason that lies in no field; pages choose their text by
 * code, never by message.
 */
export function errorText(failure: ApiError): string {
  if (failure.code === 0) return t('offline');
  if (failure.code === 429) return t('waiting', { when: retryTime(failure) });
  return failure.code === 503 ? t('down', { when: retryTime(failure) }) : t('failed');
}

/** What an operator finds the request by, small. */
export const Reference = ({ failure }: { failure: ApiError | undefined }) =>
  failure?.auditID ? (
    <p class="fine">{format('reference', { id: <bdi dir="ltr">{failure.auditID}</bdi> })}</p>
  ) : null;

interface Props {
  title: MessageID;
  what: MessageID;
  values?: Record<string, string>;
  failure?: ApiError | undefined;
  children?: ComponentChildren;
}

/** An error page: one sentence of what happened, one of what to do, and the reference. */
export function ErrorView({ title, what, values = {}, failure, children }: Props) {
  return (
    <View title={title} values={values} phase="error" error>
      <p class="lead">{format(what, values)}</p>
      {children}
      <Reference failure={failure} />
    </View>
  );
}

/** The error page for a first call that failed and says nothing about what was asked for. */
export function LoadErrorView({
  failure,
  children,
}: {
  failure: ApiError;
  children?: ComponentChildren;
}) {
  const [title, what] =
    (
      {
        0: ['unreachable.title', 'unreachable.what'],
        403: ['forbidden.title', 'forbidden.what'],
        429: ['busy.title', 'busy.what'],
        503: ['down.title', 'down.what'],
      } as const
    )[failure.code] ?? (['fault.title', 'fault.what'] as const);
  return (
    <ErrorView
      title={title}
      what={what}
      values={{ host: location.host, when: retryTime(failure) }}
      failure={failure}
    >
      {children}
    </ErrorView>
  );
}
