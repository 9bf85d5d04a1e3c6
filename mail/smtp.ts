import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { isLoopback } from '../security/loopback.js';
import {
  DeliveryUnknownError,
  logoID,
  type Mail,
  MailRefusedError,
  type Transport,
} from './message.js';

/** Options of the SMTP transport. */
interface SMTPOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  /** Timeout in milliseconds for connecting, for the greeting, and of inactivity. */
  readonly timeoutMs?: number;
  readonly caFile?: string;
}

/** An error of nodemailer. */
type SMTPError = Error & {
  readonly code?: string;
  /** The code of the system or of OpenSSL, if `code` is one of nodemailer. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly syscall?: string;
};

/** nodemailer's codes of failures before the mail was sent. */
const unsentCodes = new Set(['EDNS', 'EAUTH', 'EENVELOPE', 'ETLS', 'ENOAUTH', 'EOAUTH2']);
const unsentMessage = /^(Connection timeout|Greeting never received)/;
/** OpenSSL's and Node's codes of handshakes that failed: of a certificate, or not with a TLS server. */
const failedHandshake =
  /(^|_)CERT(_|$)|^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED|ERR_SSL_WRONG_VERSION_NUMBER)$/;

/**
 * How much longer socketTimeout is than greetingTimeout, in milliseconds. A server that never
 * greets must fail with "Greeting never received", which proves that nothing was sent.
 */
const socketTimeoutExtraMs = 1_000;

/** Returns the host as sockets and certificates name it: in lower case, IPv6 without brackets. */
const hostOf = ({ hostname }: URL): string => hostname.toLowerCase().replace(/^\[|\]$/g, '');

/** Returns a mailer of nodemailer: TLS except on loopback, and no access to files or URLs. */
export function createMailer(options: SMTPOptions) {
  const url = new URL(options.url);
  const host = hostOf(url);
  const timeoutMs = options.timeoutMs ?? 20_000;
  return createTransport({
    pool: true,
    maxConnections: 5,
    host,
    port: Number(url.port || (url.protocol === 'smtps:' ? 465 : 587)),
    secure: url.protocol === 'smtps:',
    requireTLS: url.protocol !== 'smtps:' && !isLoopback(host),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs + socketTimeoutExtraMs,
    ...(options.caFile && { tls: { ca: readFileSync(options.caFile) } }),
    ...(url.username && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Returns a transport with nodemailer and an explicit envelope. */
export function smtpTransport(options: SMTPOptions): Transport {
  const mailer = createMailer(options);
  const { host } = new URL(options.url);
  return {
    async send(mail, id) {
      try {
        await mailer.sendMail(messageOf(mail, id));
      } catch (error) {
        throw toMailError(error as SMTPError, host);
      }
    },
    close: async () => mailer.close(),
  };
}

/** Returns a mail in nodemailer's form. */
export const messageOf = (mail: Mail, id: string) => ({
  from: { name: mail.fromName ?? '', address: mail.from },
  to: { name: '', address: mail.to },
  envelope: { from: mail.from, to: [mail.to] },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  ...(mail.logo && {
    attachments: [
      {
        cid: logoID,
        content: mail.logo,
        contentType: 'image/png',
        contentDisposition: 'inline' as const,
        filename: 'logo.png',
      },
    ],
  }),
  messageId: `<${id}@${mail.from.split('@')[1]}>`,
  headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/**
 * Converts an error: a reply of the server, or a failure before it had the mail, is a refusal.
 * After any other error the mail may have been accepted.
 */
function toMailError(error: SMTPError, host: string): Error {
  const serverFailure = { host, cause: causeOf(error) };
  if (error.responseCode) {
    return new MailRefusedError(
      'the mail server refused the mail',
      error.responseCode >= 500 && error.code !== 'EAUTH',
      serverFailure,
    );
  }
  const isUnsent =
    error.syscall === 'connect' ||
    unsentCodes.has(error.code ?? '') ||
    failedHandshake.test(error.originalCode ?? '') ||
    unsentMessage.test(error.message);
  return isUnsent
    ? new MailRefusedError('the mail server cannot be reached', false, serverFailure)
    : new DeliveryUnknownError(
        'it is unknown whether the mail server accepted the mail',
        serverFailure,
      );
}

/**
 * Returns the reply code with its command (RFC 5321 §4.2), or the code of the system or of OpenSSL.
 * OpenSSL's messages begin with a number in hexadecimal digits, which may look like such a code.
 */
export function causeOf(error: SMTPError): string {
  const { code = 'unknown', originalCode = code, command = '', message, responseCode } = error;
  if (responseCode) {
    return `${responseCode}${/^[A-Z][A-Z ]*$/.test(command) ? ` to ${command}` : ''}`;
  }
  const system = message.split(/\W/).find((word) => /^E[A-Z]{3,}$/.test(word));
  return system ?? (unsentMessage.test(message) ? 'ETIMEDOUT' : originalCode);
}
