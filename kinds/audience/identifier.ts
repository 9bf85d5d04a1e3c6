/**
 * Returns why a text cannot be the identifier of an Audience; undefined if it can. `baseURL` is the
 * address of this service, whose paths are its own resources.
 */
export function identifierFault(text: string, baseURL: string): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute URI';
  const url = new URL(text);
  if (url.username || url.password) return 'must have no user information';
  if (isHierarchical(url) && hostOf(url) === hostOf(new URL(baseURL)))
    return 'must not be an address of this service';
  return url.href === text || url.href === `${text}/` ? undefined : `must be written ${url.href}`;
}

const isHierarchical = ({ host }: URL): boolean => host !== '';

/** Returns host and port without the final dot of a fully qualified name. */
const hostOf = ({ hostname, port }: URL): string => `${hostname.replace(/\.$/, '')}:${port}`;
