/** The text of an error page: what happened, and what to do. */
interface ErrorMessage {
  readonly title: string;
  readonly advice: string;
}

const startAgain = 'Go back to the service you came from and start again.';
const contactOperator =
  'Tell the people who run the service you came from: its request cannot be answered.';

const messages: Readonly<Record<string, ErrorMessage>> = {
  access_denied: { title: 'Access was not given', advice: startAgain },
  invalid_client: { title: 'This service is not known here', advice: contactOperator },
  invalid_redirect_uri: {
    title: 'This service is not known at that address',
    advice: contactOperator,
  },
  invalid_request: { title: 'This request cannot be answered', advice: startAgain },
  invalid_request_uri: {
    title: 'This request was already used or has expired',
    advice: startAgain,
  },
  invalid_scope: {
    title: 'This service asked for something it may not have',
    advice: contactOperator,
  },
  unsupported_response_type: {
    title: 'This kind of request is not supported',
    advice: contactOperator,
  },
  temporarily_unavailable: {
    title: 'The service is not available just now',
    advice: 'Wait a moment, then reload this page.',
  },
  not_found: {
    title: 'There is no such page',
    advice: 'Check the address, or go back to where you came from.',
  },
  slow_down: { title: 'Too many tries', advice: 'Wait a while, then try again.' },
  server_error: {
    title: 'Something went wrong here',
    advice: 'It was noted. Wait a moment, then start again at the service you came from.',
  },
};

/**
 * The advice for a failed sign-out request (OpenID Connect RP-Initiated Logout 1.0 §2), by
 * oidc-provider's error description.
 */
const signOutAdvice: Readonly<Record<string, string>> = {
  'could not decode id_token_hint': 'It sent an ID token (id_token_hint) that cannot be read.',
  'unrecognized id_token_hint audience':
    'It sent an ID token (id_token_hint) of an app that is not known here.',
  'client_id does not match the provided id_token_hint':
    'It sent an ID token (id_token_hint) of another app than the one that it says it is (client_id).',
  'could not validate id_token_hint':
    'It sent an ID token (id_token_hint) that this service did not issue, that was changed, or whose key was removed.',
  'post_logout_redirect_uri not registered':
    'It asks to lead you to an address (post_logout_redirect_uri) that is not one of its own.',
};

/** Returns the text for a failed sign-out request; undefined if the description is unknown. */
export function signOutErrorMessage(description: string | undefined): ErrorMessage | undefined {
  if (description === undefined || !Object.hasOwn(signOutAdvice, description)) return undefined;
  return {
    title: 'You were not signed out',
    advice: `The app you came from made a wrong request. ${signOutAdvice[description]} Tell the people who run it.`,
  };
}

/** Returns the text for an HTTP status without an error code. */
export const statusErrorMessage = (status: number): ErrorMessage =>
  errorMessage(
    {
      403: 'access_denied',
      404: 'not_found',
      405: 'not_found',
      429: 'slow_down',
      503: 'temporarily_unavailable',
    }[status] ?? '',
    status,
  );

/** Returns the text for an error code of oidc-provider (docs/design/provider.md#pages). */
export function errorMessage(error: string, status: number): ErrorMessage {
  return messages[error] ?? (status >= 500 ? messages.server_error! : messages.invalid_request!);
}
