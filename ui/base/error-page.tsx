import type { ComponentChildren } from 'preact';
import type { MessageID } from '../messages/catalog.js';
import type { ApiError } from './api/api.js';
import { relativeTime, t, format } from './text/message.js';
import { View } from './view.js';

const retryTime = (failure: ApiError): string =>
  relativeTime((failure.details.retryAfterSeconds ?? 1) * 1000);

/**
 * Returns the text for an action that failed for a reason in no field. Pages choose texts by code,
 * never by message.
 */
export function errorText(failure: ApiError): string {
  if (failure.code === 0) return t('offline');
  if (failure.code === 429) return t('waiting', { when: retryTime(failure) });
  return failure.code === 503 ? t('down', { when: retryTime(failure) }) : t('failed');
}

/** The audit ID of a failed request, in small print. */
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

/** An error page: one sentence about what happened, one about what to do, and the reference. */
export function ErrorView({ title, what, values = {}, failure, children }: Props) {
  return (
    <View title={title} values={values} phase="error" error>
      <p class="lead">{format(what, values)}</p>
      {children}
      <Reference failure={failure} />
    </View>
  );
}

/** The error page for a first call that failed for a reason unrelated to the requested object. */
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
