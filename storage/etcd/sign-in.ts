import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';

/** What etcd answers to a token that it no longer knows, or that is older than its users. */
const isOutdated = /invalid auth token|revision of auth store is old/;

/**
 * Returns an interceptor that gives each call a token of etcd's authentication. `authenticate` gets
 * one, at the first call and after etcd has refused the former. If it fails, the call is not sent and
 * fails with its message.
 */
export function signIn(authenticate: () => Promise<string>): Interceptor {
  let token: Promise<string> | undefined;
  return (options, nextCall) => {
    let endUnsent: ((code: status, details: string) => void) | undefined;
    return new InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        const current = (token ??= authenticate());
        const forget = (): void => {
          if (token === current) token = undefined;
        };
        endUnsent = (code, details) => {
          endUnsent = undefined;
          listener.onReceiveStatus({ code, details, metadata: new Metadata() });
        };
        current.then(
          (value) => {
            if (!endUnsent) return;
            endUnsent = undefined;
            metadata.set('token', value);
            next(metadata, {
              onReceiveMessage(message, nextMessage) {
                if (message?.canceled) forget(); // how a watch is refused
                nextMessage(message);
              },
              onReceiveStatus(outcome, nextStatus) {
                if (isOutdated.test(outcome.details)) forget();
                nextStatus(outcome);
              },
            });
          },
          (error: Error) => {
            forget();
            endUnsent?.(status.UNAUTHENTICATED, `sign-in to etcd failed: ${error.message}`);
          },
        );
      },
      cancel(next) {
        if (endUnsent) endUnsent(status.CANCELLED, 'cancelled before the sign-in');
        else next();
      },
    });
  };
}
