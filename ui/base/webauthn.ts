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
import type { MessageID } from '../messages/catalog.js';

export type { CreationOptions, RequestOptions };

/*
 * Nothing of ours is imported here but types: a part that a page fetches later, and that shares
 * code with its first view, would have that code split off, and the first view wait for one file
 * more.
 */

/** The browser or the authenticator cannot do what is needed; not a change of mind. */
export class PasskeyError extends Error {
  /** What to tell the person. */
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
 * Undefined for who changed their mind or was aborted: browsers say the same of both, and nothing
 * is to be said of either.
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
  )
    return undefined;
  throw new PasskeyError('passkey.failed');
}

/**
 * Has the browser make a passkey; undefined where the person changed their mind. Throws Unusable.
 */
export const createPasskey = (
  optionsJSON: CreationOptions,
): Promise<RegistrationResponseJSON | undefined> =>
  startRegistration({ optionsJSON }).catch(ignoreCancellation);

/**
 * Has the browser ask for a passkey, in a window of its own or, with `autofill`, among what it
 * fills in; undefined where nothing came of it. Ends any other such request. Throws Unusable.
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

/** Ends the request that is under way. */
export const cancelRequest = (): void => WebAuthnAbortService.cancelCeremony();
