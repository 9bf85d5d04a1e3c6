import type { Log } from '../../observability/log.js';
import {
  type Authorities,
  type AuthoritySource,
  headerNameProblem,
  type ProxyTrust,
  parseAuthorities,
  parseProxySettings,
} from '../requestheader/trust.js';

/** The authority of client certificates. */
export interface ClientAuthority {
  /** The CA certificates in PEM. It is read again after each change that `onChange` announces. */
  readonly ca: string;
  /** Calls the listener after `ca` has changed. */
  readonly onChange?: ((listener: () => void) => void) | undefined;
}

/**
 * Front proxies and the headers by which they say who asks: the settings of kube-apiserver whose names
 * begin with `--requestheader`. By default the headers are those that kube-apiserver sends.
 */
export interface RequestHeaderOptions extends ClientAuthority {
  /** The common names that certificates of proxies may have; any by default. */
  readonly allowedNames?: readonly string[] | undefined;
  /** Headers of the user name, by default `X-Remote-User`. */
  readonly usernameHeaders?: readonly string[] | undefined;
  /** Headers of the groups, by default `X-Remote-Group`. */
  readonly groupHeaders?: readonly string[] | undefined;
  /** Headers of the uid, by default `X-Remote-Uid`. */
  readonly uidHeaders?: readonly string[] | undefined;
  /** Beginnings of the headers of extra attributes, by default `X-Remote-Extra-`. */
  readonly extraHeaderPrefixes?: readonly string[] | undefined;
}

/** Returns the authorities of users with a certificate. Throws an Error for a CA that cannot be used. */
export const clientAuthorities = (
  authority: ClientAuthority,
  log: Pick<Log, 'error'>,
): AuthoritySource => followed('clientCA', authority, parseAuthorities, log);

/** Returns the trusted front proxies. Throws an Error for a CA or a header that cannot be used. */
export function proxyTrust(
  options: RequestHeaderOptions,
  log: Pick<Log, 'error'>,
): AuthoritySource<ProxyTrust> {
  const headers = {
    allowedNames: options.allowedNames ?? [],
    usernameHeaders: headerNames(options.usernameHeaders ?? ['X-Remote-User']),
    groupHeaders: headerNames(options.groupHeaders ?? ['X-Remote-Group']),
    uidHeaders: headerNames(options.uidHeaders ?? ['X-Remote-Uid']),
    extraHeaderPrefixes: headerNames(options.extraHeaderPrefixes ?? ['X-Remote-Extra-'], true),
  };
  const parse = (authorities: string): ProxyTrust =>
    parseProxySettings({ ...headers, authorities });
  return followed('requestHeader', options, parse, log);
}

/** Returns header names in lower case; throws for one that has another meaning. */
function headerNames(names: readonly string[], isPrefix = false): string[] {
  for (const name of names) {
    const problem = headerNameProblem(name, isPrefix);
    if (problem !== undefined) throw new Error(`requestHeader: ${problem}`);
  }
  return names.map((name) => name.toLowerCase());
}

/** Returns what is parsed of an authority now. After a change that cannot be used, the former stays. */
function followed<Current extends Authorities>(
  option: string,
  authority: ClientAuthority,
  parse: (pem: string) => Current,
  log: Pick<Log, 'error'>,
): AuthoritySource<Current> {
  const read = (): Current => {
    try {
      return parse(authority.ca);
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      throw new Error(`${option}.ca cannot be used: ${why}`, { cause: error });
    }
  };
  let current = read();
  const listeners: (() => void)[] = [];
  authority.onChange?.(() => {
    try {
      current = read();
    } catch (error) {
      return log.error(
        { err: error },
        'changed CA certificates are ignored; the former stay in use',
      );
    }
    for (const listener of listeners) listener();
  });
  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
