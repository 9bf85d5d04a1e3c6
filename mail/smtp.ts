import { readFileSync } from 'node:fs';
import { createTransport } from 'nodemailer';
import { isLoopback } from '../security/loopback.js';
import { MailRefusedError, Unsure, type Mail, type Transport } from './message.js';

/** Where mail goes. */
interface SMTPOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  /** Milliseconds for connecting, greeting and each silence. */
  readonly timeout?: number;
  readonly caFile?: string;
}

/** What nodemailer throws. */
type SMTPError = Error & {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly syscall?: string;
};

/** nodemailer's names of failures that come before the mail itself was sent. */
const before = new Set(['EDNS', 'EAUTH', 'EENVELOPE', 'ETLS', 'ENOAUTH', 'EOAUTH2']);
const early = /^(Connection timeout|Greeting never received)/;

/**
 * Milliseconds by which socketTimeout is longer than greetingTimeout: a server that never greets
 * must fail with "Greeting never received", after which it is certain that nothing was sent.
 */
const afterGreeting = 1_000;

/**
 * SMTP by nodemailer: TLS wherever it is not loopback, explicit envelope, nothing parsed, nothing
 * read from files or addresses.
 */
export function smtpTransport(options: SMTPOptions): Transport {
  const url = new URL(options.url);
  const timeout = options.timeout ?? 20_000;
  const mailer = createTransport({
    pool: true,
    maxConnections: 5,
    host: url.hostname,
    port: Number(url.port || (url.protocol === 'smtps:' ? 465 : 587)),
    secure: url.protocol === 'smtps:',
    requireTLS: url.protocol !== 'smtps:' && !isLoopback(url.hostname),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout + afterGreeting,
    ...(options.caFile && { tls: { ca: readFileSync(options.caFile) } }),
    ...(url.username && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  } as never);
  return {
    async send(mail, id) {
      try {
        await mailer.sendMail(messageOf(mail, id));
      } catch (error) {
        throw judged(error as SMTPError, url.host);
      }
    },
    close: async () => mailer.close(),
  };
}

const messageOf = (mail: Mail, id: string) => ({
  from: { name: '', address: mail.from },
  to: { name: '', address: mail.to },
  envelope: { from: mail.from, to: [mail.to] },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  messageId: `<${id}@${mail.from.split('@')[1]}>`,
  headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/**
 * An answer of the server, or a failure before it had the mail, is a refusal; anything else may
 * have been accepted.
 */
function judged(error: SMTPError, host: string): Error {
  const failing = { host, cause: causeOf(error) };
  if (error.responseCode)
    return new MailRefusedError(
      'the mail server refused it',
      error.responseCode >= 500 && error.code !== 'EAUTH',
      failing,
    );
  const unsent =
    error.syscall === 'connect' || before.has(error.code ?? '') || early.test(error.message);
  return unsent
    ? new MailRefusedError('the mail server cannot be reached', false, failing)
    : new Unsure('it is not known whether the mail server took it', failing);
}

/**
 * The reply code with the command that it answers (RFC 5321 §4.2), or the system's name of the
 * failure.
 */
function causeOf({ code = 'unknown', command = '', message, responseCode }: SMTPError): string {
  if (responseCode)
    return `${responseCode}${/^[A-Z][A-Z ]*$/.test(command) ? ` to ${command}` : ''}`;
  const system = message.split(/[^A-Z]/).find((word) => word.length > 3 && word.startsWith('E'));
  return system ?? (early.test(message) ? 'ETIMEDOUT' : code);
}
