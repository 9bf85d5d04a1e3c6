import { expect, test } from '@jest/globals';
import { etcdErrorOf, toUnavailableError } from '../../storage/etcd/errors.js';

test.each([
  '3 INVALID_ARGUMENT: etcdserver: user name is empty',
  '3 INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password',
  '9 FAILED_PRECONDITION: etcdserver: user name not found',
  '9 FAILED_PRECONDITION: etcdserver: authentication is not enabled',
  '9 FAILED_PRECONDITION: etcdserver: role name not found',
  '7 PERMISSION_DENIED: etcdserver: permission denied',
  '16 UNAUTHENTICATED: etcdserver: invalid auth token',
])('%s is a refusal, not silence', (message) => {
  const error = etcdErrorOf(new Error(message));
  expect(error.kind).toBe('unsent');
  expect(error.refusal).toBe(/etcdserver: ([a-z ]+)/.exec(message)![1]!.replace(/,.*/, ''));
  expect(toUnavailableError(error).message).toMatch(
    /^etcd refused this client \(.*--etcd-certfile/,
  );
});

test.each(['14 UNAVAILABLE: No connection established', '4 DEADLINE_EXCEEDED'])(
  '%s is no refusal',
  (message) => {
    expect(toUnavailableError(etcdErrorOf(new Error(message))).message).toBe('etcd did not answer');
  },
);
