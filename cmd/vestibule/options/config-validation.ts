import { existsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { isLoopback } from '../../../security/loopback.js';
import { serverUrlsProblem } from '../../../storage/etcd/server-urls.js';
import type { OptionValues } from './flags.js';

/** Scheme, host and perhaps a port. URL alone takes https:host, backslashes, tabs and port 0 as well. */
export const originPattern =
  /^https?:\/\/([^\s/\\?#@:%[\]]+|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?\/?$/i;

/**
 * Returns the base URL as browsers write it: without a slash at its end, without the usual port, the
 * host in lower case. Adds a problem if it is not an https origin, or http on loopback.
 */
export function parseBaseURL(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined;
  const url = originPattern.test(text) ? URL.parse(text) : null;
  if (url === null) {
    const got = text.includes('@') ? '' : `; got ${JSON.stringify(text).slice(1, -1)}`; // No password.
    problems.push(
      `--base-url must be scheme, host and perhaps a port, such as https://id.example.org${got}`,
    );
    return undefined;
  }
  if (url.protocol !== 'https:' && !isLocal(url.origin)) {
    problems.push('--base-url must be https, or http on loopback');
  }
  return url.origin;
}

/** Checks settings against each other, and beyond the bounds that a setting declares. */
export function validateValues(
  values: OptionValues,
  baseURL: string | undefined,
  problems: string[],
): void {
  const isEtcd = etcdServers(values).length > 0;
  checkStore(values, problems);
  if (baseURL === undefined && values.port !== 0 && !isLoopback(values['bind-address'])) {
    problems.push('--base-url is missing: it is required when the service listens beyond loopback');
  }
  checkMail(values, baseURL, isEtcd, problems);
  checkTLS(values, isEtcd, problems);
  problems.push(...incompletePairs(values));
  checkValues(values, problems);
}

const etcdServers = (values: OptionValues): string[] => values['etcd-servers'] ?? [];

function checkStore(values: OptionValues, problems: string[]): void {
  const servers = etcdServers(values);
  if (servers.length > 0 && values['data-dir']) {
    problems.push('--data-dir and --etcd-servers are both set; set only one store');
  }
  if (servers.length > 0 && !values['keys-file']) {
    problems.push(
      '--keys-file is missing: with --etcd-servers every replica needs the same keys; create a file with "vestibule keys new FILE"',
    );
  }
  const serversProblem = serverUrlsProblem(servers, isLoopback);
  if (serversProblem !== undefined) problems.push(`--etcd-servers: ${serversProblem}`);
  if (servers.length === 0 && !values['data-dir']) {
    problems.push('--data-dir is missing: set a folder for the embedded store, or --etcd-servers');
  }
}

/** Reports whether the host of a URL is this machine. */
const isLocal = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url).hostname);

const emailAddress = /^(?!-)(?!.*=\?)[^\s@<>,"%!]{1,64}@[A-Za-z0-9.-]{1,255}$/;
const isNetwork = (text: string): boolean => {
  const [ip = '', bits] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(ip)]!;
  return max > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= max));
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

/** Reports whether a text is the name of a time zone (IANA); an offset such as +01:00 is not. */
const isTimeZone = (text: string): boolean => {
  try {
    return /^[A-Za-z]/.test(text) && Boolean(Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
};

/** Checks single values beyond the bounds that a setting declares. */
function checkValues(values: OptionValues, problems: string[]): void {
  const metrics = values['metrics-port'];
  if (metrics !== undefined && metrics !== 0) {
    for (const flag of ['port', 'secure-port'] as const) {
      if (values[flag] === metrics) problems.push(`--metrics-port and --${flag} must differ`);
    }
  }
  const audit = values['audit-log-path'];
  if (audit !== undefined && audit !== '-' && (audit === '' || !existsSync(dirname(audit)))) {
    problems.push(`--audit-log-path: there is no folder for ${JSON.stringify(audit)}`);
  }
  for (const flag of ['trusted-proxies', 'allow-private-network'] as const) {
    for (const [i, entry] of (values[flag] ?? []).entries()) {
      if (!isNetwork(entry)) {
        problems.push(
          `--${flag}: ${/@|\/\//.test(entry) ? `item ${i + 1}` : entry} is not an address or a network such as 10.0.0.0/8`,
        );
      }
    }
  }
  for (const operator of values.operators ?? []) {
    if (!emailAddress.test(operator)) {
      problems.push(`--operators: ${operator} is not an email address`);
    }
  }
  const operators = (values.operators ?? []).map((operator) => operator.toLowerCase());
  for (const [i, operator] of operators.entries()) {
    if (operators.indexOf(operator) < i) {
      problems.push(`--operators: item ${i + 1} is an address that is there before; remove it`);
    }
  }
  if (values['email-from'] !== undefined && !emailAddress.test(values['email-from'])) {
    problems.push('--email-from must be an email address');
  }
  const timeZone = values['policy-time-zone'];
  if (!isTimeZone(timeZone)) {
    problems.push(
      `--policy-time-zone: ${JSON.stringify(timeZone)} is not a time zone such as Europe/Berlin`,
    );
  }
  if (values.manifests !== undefined && !isFolder(values.manifests)) {
    problems.push(`--manifests: there is no folder ${values.manifests}`);
  }
}

function checkMail(
  values: OptionValues,
  baseURL: string | undefined,
  isEtcd: boolean,
  problems: string[],
): void {
  const mock = values['mock-mail'] === true;
  const smtp = values['smtp-url'];
  if (mock === (smtp !== undefined)) {
    problems.push(
      mock
        ? '--mock-mail and --smtp-url are both set; set only one'
        : '--smtp-url is missing: set a mail server, or --mock-mail to keep mails in the mock mailbox',
    );
  }
  const smtpProblem = smtp === undefined ? undefined : mailServerProblem(smtp);
  if (smtpProblem !== undefined) problems.push(smtpProblem);
  if (
    mock &&
    values['allow-mock-mail'] !== true &&
    (isEtcd || (baseURL !== undefined && !isLocal(baseURL)))
  ) {
    problems.push(
      '--mock-mail is refused with --etcd-servers or a public base URL: anyone could read every code; set --allow-mock-mail to allow it',
    );
  }
}

/**
 * Returns what is wrong with a mail server's URL, without the URL itself: it contains a password.
 */
export function mailServerProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.hostname || !/^smtps?:$/.test(url.protocol)) {
    return '--smtp-url must look like smtp://host:port or smtps://user:password@host:port';
  }
  if (!['', '/'].includes(url.pathname) || url.search || url.hash) {
    return '--smtp-url must end after host and port; write / ? # @ : of a password as %2F %3F %23 %40 %3A';
  }
  return [url.username, url.password].every(isPercentEncoded)
    ? undefined
    : '--smtp-url has a user or a password with a % that begins no character; write it as %25';
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Settings of etcd that are given together. */
const pairs = [
  ['etcd-certfile', 'etcd-keyfile'],
  ['etcd-username', 'etcd-password'],
] as const;

/** Returns a problem for each pair of etcd's settings of which only one is given. */
export const incompletePairs = (
  values: Readonly<Partial<Record<(typeof pairs)[number][number], string | undefined>>>,
): string[] =>
  pairs
    .flatMap(([flag, other]) => [[flag, other] as const, [other, flag] as const])
    .filter(([given, missing]) => values[given] !== undefined && values[missing] === undefined)
    .map(([given, missing]) => `--${given} is set without --${missing}; set both, or neither`);

function checkTLS(values: OptionValues, etcd: boolean, problems: string[]): void {
  const files = (['tls-cert-file', 'tls-private-key-file'] as const).filter(
    (flag) => values[flag] !== undefined,
  );
  if (files.length === 1) {
    problems.push(
      `--${files[0]} is set alone; set both --tls-cert-file and --tls-private-key-file`,
    );
  }
  if (files.length > 0 && values['secure-port'] === undefined) {
    problems.push(`--${files[0]} is set without --secure-port and would be unused`);
  }
  if (values['secure-port'] !== undefined && files.length === 0 && etcd) {
    problems.push(
      '--tls-cert-file is missing: with --etcd-servers there is no data folder for a generated certificate, and all ' +
        'replicas need certificates of the same CA',
    );
  }
  if (
    values['secure-port'] !== undefined &&
    values['secure-port'] !== 0 &&
    values['secure-port'] === values.port
  ) {
    problems.push('--secure-port and --port must differ');
  }
}
