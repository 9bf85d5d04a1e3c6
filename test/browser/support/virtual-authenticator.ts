import type { CDPSession, Page } from 'playwright-core';

/** What may differ from a platform authenticator that knows its person and is touched at once. */
export interface AuthenticatorOptions {
  readonly transport?: 'internal' | 'usb';
  readonly verifies?: boolean;
  readonly present?: boolean;
}

/** An authenticator plugged into one page of real Chromium. */
export class VirtualAuthenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  static async plugInto(
    page: Page,
    { transport = 'internal', verifies = true, present = true }: AuthenticatorOptions = {},
  ): Promise<VirtualAuthenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport,
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: verifies,
        automaticPresenceSimulation: present,
      },
    });
    return new VirtualAuthenticator(session, authenticatorId);
  }

  /** Whether it is touched when it asks for it. */
  async present(enabled: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setAutomaticPresenceSimulation', {
      authenticatorId: this.#id,
      enabled,
    });
  }

  /** Whether it knows who touches it. */
  async verifies(isUserVerified: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setUserVerified', {
      authenticatorId: this.#id,
      isUserVerified,
    });
  }

  /** How many passkeys it keeps. */
  async count(): Promise<number> {
    const { credentials } = await this.#session.send('WebAuthn.getCredentials', {
      authenticatorId: this.#id,
    });
    return credentials.length;
  }

  async unplug(): Promise<void> {
    await this.#session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: this.#id });
  }
}
