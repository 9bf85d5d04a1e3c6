const bytes = (length: number): ArrayBuffer => new Uint8Array(length).fill(7).buffer;

/** What a browser returns for a passkey. The fake API decides what comes of it. */
const credential = {
  id: 'BwcHBwcHBwcHBwcHBwcHBw',
  rawId: bytes(16),
  type: 'public-key',
  authenticatorAttachment: 'platform',
  response: {
    authenticatorData: bytes(37),
    clientDataJSON: bytes(64),
    signature: bytes(70),
    userHandle: bytes(64),
  },
  getClientExtensionResults: () => ({}),
};

/** Options of a request, as the API gives them with a challenge. */
export const passkeyOptions = {
  status: { options: { challenge: 'A'.repeat(43), rpId: 'localhost', allowCredentials: [] } },
};

/** Gives this browser a passkey, which a request gets at once and autofill never. */
export function installPasskey(): void {
  navigator.credentials.get = (options) =>
    options?.mediation === 'conditional'
      ? new Promise(() => undefined)
      : Promise.resolve(credential);
}
