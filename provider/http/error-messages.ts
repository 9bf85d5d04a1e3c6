import type { MessageID } from '../../i18n/languages.js';

/** The text of an error page: what happened, and what to do. */
interface ErrorMessage {
  readonly title: MessageID;
  readonly advice: MessageID;
}

const startAgain = 'error.startAgain';
const tellOperator = 'error.tellOperator';

const messages = {
  access_denied: { title: 'error.accessDenied', advice: startAgain },
  invalid_client: { title: 'error.invalidClient', advice: tellOperator },
  invalid_redirect_uri: { title: 'error.invalidRedirectURI', advice: tellOperator },
  invalid_request: { title: 'error.invalidRequest', advice: startAgain },
  invalid_request_uri: { title: 'error.invalidRequestURI', advice: startAgain },
  invalid_scope: { title: 'error.invalidScope', advice: tellOperator },
  unsupported_response_type: { title: 'error.unsupportedResponseType', advice: tellOperator },
  temporarily_unavailable: { title: 'error.unavailable', advice: 'error.unavailable.advice' },
  not_found: { title: 'error.notFound', advice: 'error.notFound.advice' },
  slow_down: { title: 'error.slowDown', advice: 'error.slowDown.advice' },
  server_error: { title: 'error.serverError', advice: 'error.serverError.advice' },
} as const satisfies Record<string, ErrorMessage>;

const byCode: ReadonlyMap<string, ErrorMessage> = new Map(Object.entries(messages));

/** Returns the text for an HTTP status without an error code. */
export const statusErrorMessage = (status: number): ErrorMessage =>
  errorMessage(
    {
      403: 'access_denied',
      404: 'not_found',
      405: 'not_found',
      429: 'slow_down',
      503: 'temporarily_unavailable',
      504: 'temporarily_unavailable',
    }[status] ?? '',
    status,
  );

/** Returns the text for an error code of oidc-provider (docs/design/provider.md#pages). */
export function errorMessage(error: string, status: number): ErrorMessage {
  return byCode.get(error) ?? (status >= 500 ? messages.server_error : messages.invalid_request);
}
