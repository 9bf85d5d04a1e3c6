/** What a mail says; addresses are the transport's business. */
export interface Message {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail as it is sent. */
export interface Mail extends Message {
  /** One address, already judged by our grammar. */
  readonly to: string;
  readonly from: string;
}

/** Sends one mail; throws {@link MailRefusedError} where it is certain that it was not accepted. */
export interface Transport {
  send(mail: Mail, id: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Which mail server failed, and how: a code of it or of the system, never its words, which may hold
 * the address.
 */
export interface Failing {
  readonly host: string;
  readonly cause: string;
}

/** It is not known whether the mail was accepted. */
export class Unsure extends Error {
  override readonly name = 'Unsure';
  readonly failing: Failing;
  constructor(message: string, failing: Failing) {
    super(message);
    this.failing = failing;
  }
}

/** The mail was certainly not accepted; `permanent` when asking again cannot help. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
  readonly permanent: boolean;
  readonly failing: Failing | undefined;
  constructor(message: string, permanent: boolean, failing?: Failing) {
    super(message);
    this.permanent = permanent;
    this.failing = failing;
  }
}

/** A name from people or Clients: without addresses and line breaks, cut to 64 characters. */
export function plainName(name: string): string {
  const flat = name
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replace(/[a-z0-9+.-]{0,64}:\/\/\S*/gi, '')
    .replace(/\bwww\.\S*/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
  return [...flat].slice(0, 64).join('') || 'a service';
}
