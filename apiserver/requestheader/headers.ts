import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../registry/kind.js';
import type { AssertedHeaders } from '../request/asserted-user.js';
import type { ProxySettings } from './trust.js';

/** An asserted user of a cluster. */
type AssertedUser = Omit<Extract<Caller, { type: 'ClusterUser' }>, 'type'>;

type Headers = Pick<
  ProxySettings,
  'usernameHeaders' | 'groupHeaders' | 'extraHeaderPrefixes' | 'uidHeaders'
>;

const builtInPatterns = ['x-remote-.*'];

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');

/** Returns the pattern of identity header names: `X-Remote-…`, and those of the settings. */
export function identityHeaderPattern(headers?: Headers): RegExp {
  const {
    usernameHeaders = [],
    groupHeaders = [],
    uidHeaders = [],
    extraHeaderPrefixes = [],
  } = headers ?? {};
  return new RegExp(
    `^(?:${[...builtInPatterns, ...[...usernameHeaders, ...groupHeaders, ...uidHeaders].map(escaped), ...extraHeaderPrefixes.map((extraHeaderPrefix) => `${escaped(extraHeaderPrefix)}.*`)].join('|')})$`,
    'i',
  );
}

/**
 * Removes headers from a request, in every form that Node keeps, and returns them; undefined if
 * there were none.
 */
export function removeHeaders(
  request: IncomingMessage,
  pattern: RegExp,
): AssertedHeaders | undefined {
  const { rawHeaders } = request;
  let found: [string, string][] | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (pattern.test(rawHeaders[i]!)) {
      found ??= [];
      found.push([rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!]);
    }
  }
  if (!found) return undefined;
  const { headers, headersDistinct } = request; // Node computes both from the raw headers on first access
  for (const [name] of found) {
    delete headers[name];
    delete headersDistinct[name];
  }
  const remaining = rawHeaders.filter((_, i) => !pattern.test(rawHeaders[i - (i % 2)]!));
  rawHeaders.splice(0, rawHeaders.length, ...remaining);
  return found;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Control characters, and those that change the writing direction. */
const invisible = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/**
 * Returns the asserted user as kube-apiserver reads it; undefined if no or several usernames are
 * given, or if a value contains invisible characters.
 */
export function userOf(
  assertedHeaders: AssertedHeaders,
  { usernameHeaders, groupHeaders, uidHeaders, extraHeaderPrefixes }: Headers,
): AssertedUser | undefined {
  try {
    const values = assertedHeaders
      .map(([name, value]) => [name, utf8.decode(Buffer.from(value, 'latin1'))] as const)
      .filter(([, value]) => value !== '');
    const valuesOf = (names: readonly string[]): string[] =>
      names.flatMap((name) =>
        values.filter((value) => value[0] === name).map(([, value]) => value),
      );
    const valuesOfFirst = (names: readonly string[]): string[] => {
      const name = names.find((candidate) => values.some((pair) => pair[0] === candidate));
      return name === undefined ? [] : [...new Set(valuesOf([name]))];
    };
    const users = valuesOfFirst(usernameHeaders);
    const uids = valuesOfFirst(uidHeaders);
    const groups = valuesOf(groupHeaders);
    if (
      users.length !== 1 ||
      uids.length > 1 ||
      [...users, ...uids, ...groups].some((text) => invisible.test(text))
    ) {
      return undefined;
    }
    const extra = extraOf(values, extraHeaderPrefixes);
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
 * Returns the extra attributes. Keys are percent-encoded and lower-case; a malformed encoding stays
 * unchanged.
 */
function extraOf(
  headers: AssertedHeaders,
  prefixes: readonly string[],
): Record<string, string[]> | undefined {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const [name, value] of headers) {
      if (name.startsWith(prefix)) {
        const key = decoded(name.slice(prefix.length));
        extra.set(key, [...(extra.get(key) ?? []), value]);
      }
    }
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
