/** The content of a mail, without addresses. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The image that the HTML shows as `cid:` and {@link logoID}: a PNG. */
  readonly logo?: Buffer;
}

/** The Content-ID of the logo. */
export const logoID = 'logo@vestibule';

/** A mail with its addresses. */
export interface Mail extends Message {
  /** One address that passed validation. */
  readonly to: string;
  readonly from: string;
  /** The name of the service, beside `from`. */
  readonly fromName?: string;
}

/** Sends one mail; throws {@link MailRefusedError} if it was certainly not accepted. */
export interface Transport {
  send(mail: Mail, id: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Which mail server failed, and the code of the server or the system. Never the server's text,
 * which may contain the address.
 */
export interface MailServerFailure {
  readonly host: string;
  readonly cause: string;
}

/** It is unknown whether the mail was accepted. */
export class DeliveryUnknownError extends Error {
  override readonly name = 'DeliveryUnknownError';
  readonly serverFailure: MailServerFailure;
  constructor(message: string, serverFailure: MailServerFailure) {
    super(message);
    this.serverFailure = serverFailure;
  }
}

/** The mail was certainly not accepted; `permanent` when a retry cannot succeed. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
  readonly permanent: boolean;
  readonly serverFailure: MailServerFailure | undefined;
  constructor(message: string, permanent: boolean, serverFailure?: MailServerFailure) {
    super(message);
    this.permanent = permanent;
    this.serverFailure = serverFailure;
  }
}

/**
 * Returns a name from a person or Client without addresses and line breaks, cut to 64 characters.
 */
export function plainName(name: string): string {
  const flat = name
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replace(/[a-z0-9+.-]{0,64}:\/\/\S*/gi, '')
    .replace(/\bwww\.\S*/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
  return [...flat].slice(0, 64).join('') || 'a service';
}
