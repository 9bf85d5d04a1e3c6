import type { Status, StatusDetails } from '../../../ui/api.js';

/** A response of the fake API: an object, an error, a network failure or none at all. */
export type FakeResponse = object | FakeRefusal | 'offline' | 'never';

const reasons: Readonly<Record<number, NonNullable<Status['reason']>>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** An error of the API (docs/design/api.md#errors). */
export class FakeRefusal {
  readonly status: Status;
  constructor(
    code: number,
    details: StatusDetails = {},
    message = 'for developers only; never shown',
  ) {
    this.status = {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      reason: reasons[code] ?? 'InternalError',
      code,
      message,
      details,
    };
  }
}

/** A 422 that names a field. */
export const wrong = (field: string, more: StatusDetails = {}): FakeRefusal =>
  new FakeRefusal(422, {
    causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value', field }],
    ...more,
  });
