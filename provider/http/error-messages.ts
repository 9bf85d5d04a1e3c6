/** What happened, and what to do about it. */
interface Sentence {
  readonly title: string;
  readonly advice: string;
}

const again = 'Go back to the service you came from and start again.';
const theirs = 'Tell the people who run the service you came from: its request cannot be answered.';

const sentences: Readonly<Record<string, Sentence>> = {
  access_denied: { title: 'Access was not given', advice: again },
  invalid_client: { title: 'This service is not known here', advice: theirs },
  invalid_redirect_uri: { title: 'This service is not known at that address', advice: theirs },
  invalid_request: { title: 'This request cannot be answered', advice: again },
  invalid_request_uri: { title: 'This request was used before or is over', advice: again },
  invalid_scope: { title: 'This service asked for something it may not have', advice: theirs },
  unsupported_response_type: { title: 'This kind of request is not supported', advice: theirs },
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
 * What is wrong with a request to sign out (OpenID Connect RP-Initiated Logout 1.0 §2), by the
 * library's description of it.
 */
const signOutFaults: Readonly<Record<string, string>> = {
  'could not decode id_token_hint': 'It sent an ID token (id_token_hint) that cannot be read.',
  'unrecognized id_token_hint audience':
    'It sent an ID token (id_token_hint) of an app that is not known here.',
  'client_id does not match the provided id_token_hint':
    'It sent an ID token (id_token_hint) of another app than the one that it says it is (client_id).',
  'could not validate id_token_hint':
    'It sent an ID token (id_token_hint) that this service did not issue, that was changed, or whose key is gone.',
  'post_logout_redirect_uri not registered':
    'It asks to lead you to an address (post_logout_redirect_uri) that is not one of its own.',
};

/**
 * Our own words for a request to sign out that cannot be carried out; undefined where the library
 * says nothing that is known.
 */
export function sentenceForSignOut(description: string | undefined): Sentence | undefined {
  if (description === undefined || !Object.hasOwn(signOutFaults, description)) return undefined;
  return {
    title: 'You were not signed out',
    advice: `The app you came from made a wrong request. ${signOutFaults[description]} Tell the people who run it.`,
  };
}

/** Our own words for an HTTP status that no code goes with. */
export const sentenceForStatus = (status: number): Sentence =>
  sentenceFor(
    {
      403: 'access_denied',
      404: 'not_found',
      405: 'not_found',
      429: 'slow_down',
      503: 'temporarily_unavailable',
    }[status] ?? '',
    status,
  );

/** Our own words for an error code of the library (docs/design/provider.md#pages). */
export function sentenceFor(error: string, status: number): Sentence {
  return sentences[error] ?? (status >= 500 ? sentences.server_error! : sentences.invalid_request!);
}
