import type { IncomingMessage } from 'node:http';
import type { ProxySettings } from './trust.js';
import type { AssertedHeaders } from '../request/asserted-user.js';

/** A user of a cluster, as claimed. */
export interface AssertedUser {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

type Headers = Pick<
  ProxySettings,
  'usernameHeaders' | 'groupHeaders' | 'extraHeaderPrefixes' | 'uidHeaders'
>;

const always = ['x-remote-.*'];

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');

/** Names of headers that claim: always `X-Remote-…`, and those of the settings. */
export function claimPattern(headers?: Headers): RegExp {
  const {
    usernameHeaders = [],
    groupHeaders = [],
    uidHeaders = [],
    extraHeaderPrefixes = [],
  } = headers ?? {};
  return new RegExp(
    `^(?:${[...always, ...[...usernameHeaders, ...groupHeaders, ...uidHeaders].map(escaped), ...extraHeaderPrefixes.map((one) => `${escaped(one)}.*`)].join('|')})$`,
    'i',
  );
}

/**
 * Takes headers out of a request, in every form that Node keeps of them, and gives back what they
 * said; undefined where there was none.
 */
export function takeHeaders(
  request: IncomingMessage,
  pattern: RegExp,
): AssertedHeaders | undefined {
  const { rawHeaders } = request;
  let found: [string, string][] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (pattern.test(rawHeaders[i]!)) {
      found ??= [];
      found.push([rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!]);
    }
  if (!found) return undefined;
  const { headers, headersDistinct } = request; // worked out from the raw ones, when first asked for
  for (const [name] of found) {
    delete headers[name];
    delete headersDistinct[name];
  }
  const kept = rawHeaders.filter((_, i) => !pattern.test(rawHeaders[i - (i % 2)]!));
  rawHeaders.splice(0, rawHeaders.length, ...kept);
  return found;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Control characters and what turns the direction of writing round. */
const hidden = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/**
 * Who that is, as kube-apiserver reads it; undefined where no one is named, more than one, or
 * no one that could be told apart by what is shown.
 */
export function userOf(
  claim: AssertedHeaders,
  { usernameHeaders, groupHeaders, uidHeaders, extraHeaderPrefixes }: Headers,
): AssertedUser | undefined {
  try {
    const said = claim
      .map(([name, value]) => [name, utf8.decode(Buffer.from(value, 'latin1'))] as const)
      .filter(([, value]) => value !== '');
    const valuesOf = (names: readonly string[]): string[] =>
      names.flatMap((name) => said.filter((one) => one[0] === name).map(([, value]) => value));
    const one = (names: readonly string[]): string[] => {
      const name = names.find((candidate) => said.some((pair) => pair[0] === candidate));
      return name === undefined ? [] : [...new Set(valuesOf([name]))];
    };
    const users = one(usernameHeaders);
    const uids = one(uidHeaders);
    const groups = valuesOf(groupHeaders);
    if (
      users.length !== 1 ||
      uids.length > 1 ||
      [...users, ...uids, ...groups].some((text) => hidden.test(text))
    )
      return undefined;
    const extra = extraOf(said, extraHeaderPrefixes);
    return {
      user: users[0]!,
      groups,
      ...(uids.length > 0 && { uid: uids[0]! }),
      ...(extra && { extra }),
    };
  } catch {
    return undefined;
  }
}

/**
 * Keys come percent-encoded and, by way of HTTP, in lower case; one that is encoded wrongly stays
 * as it is.
 */
function extraOf(
  said: AssertedHeaders,
  prefixes: readonly string[],
): Record<string, string[]> | undefined {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes)
    for (const [name, value] of said)
      if (name.startsWith(prefix)) {
        const key = decoded(name.slice(prefix.length));
        extra.set(key, [...(extra.get(key) ?? []), value]);
      }
  return extra.size > 0 ? Object.fromEntries(extra) : undefined;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
