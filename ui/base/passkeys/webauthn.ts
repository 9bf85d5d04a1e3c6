import {
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
  type AuthenticationResponseJSON,
  type PublicKeyCredentialCreationOptionsJSON as CreationOptions,
  type PublicKeyCredentialRequestOptionsJSON as RequestOptions,
  type RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import type { MessageID } from '../../messages/catalog.js';

export type { CreationOptions, RequestOptions };

/*
 * Imports only types of ours. A chunk that shares code with the first view would have that code
 * split off, and the first view would load one more file.
 */

/** An error of the browser or the authenticator, other than a cancellation. */
export class PasskeyError extends Error {
  /** The message to show. */
  readonly id: MessageID;
  constructor(id: MessageID) {
    super(id);
    this.id = id;
  }
}

const messageByCode: Readonly<Record<string, MessageID>> = {
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: 'passkey.known',
  ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT: 'passkey.unfit',
  ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT: 'passkey.unfit',
  ERROR_AUTHENTICATOR_NO_SUPPORTED_PUBKEYCREDPARAMS_ALG: 'passkey.unfit',
  ERROR_INVALID_DOMAIN: 'passkey.insecure',
  ERROR_INVALID_RP_ID: 'passkey.insecure',
};

/**
 * Returns undefined if the person cancelled or the request was aborted, which browsers report
 * alike. Throws a PasskeyError for every other error.
 */
function ignoreCancellation(thrown: unknown): undefined {
  const { name } = thrown as Error;
  const code = thrown instanceof WebAuthnError ? thrown.code : '';
  if (messageByCode[code]) throw new PasskeyError(messageByCode[code]);
  if (
    name === 'NotAllowedError' ||
    name === 'AbortError' ||
    code === 'ERROR_CEREMONY_ABORTED' ||
    code === 'ERROR_PASSTHROUGH_SEE_CAUSE_PROPERTY'
  ) {
    return undefined;
  }
  throw new PasskeyError('passkey.failed');
}

/** Creates a passkey. Returns undefined if the person cancelled. Throws a PasskeyError. */
export const createPasskey = (
  optionsJSON: CreationOptions,
): Promise<RegistrationResponseJSON | undefined> =>
  startRegistration({ optionsJSON }).catch(ignoreCancellation);

/**
 * Requests a passkey in the browser's own dialog or, with `autofill`, among its suggestions.
 * Returns undefined if none was chosen. Ends any other such request. Throws a PasskeyError.
 */
export const requestPasskey = (
  optionsJSON: RequestOptions,
  autofill = false,
): Promise<AuthenticationResponseJSON | undefined> =>
  startAuthentication({
    optionsJSON,
    useBrowserAutofill: autofill,
    verifyBrowserAutofillInput: false,
  }).catch(ignoreCancellation);

/** Ends the pending request. */
export const cancelRequest = (): void => WebAuthnAbortService.cancelCeremony();
