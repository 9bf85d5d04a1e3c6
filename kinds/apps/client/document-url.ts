/** The longest `client_id`, in characters; that of a Client object, too. */
const maxLength = 253;

/**
 * Returns the URL of a metadata document if a `client_id` is one (OAuth Client ID Metadata Document
 * §3), else undefined. It must be written as it is parsed: so it has no user information, no dot
 * segments, no port 443 and no upper case in its host, and one document has one `client_id`.
 */
export function documentURL(clientID: string): URL | undefined {
  if (!clientID.startsWith('https://') || clientID.length > maxLength) return undefined;
  const url = URL.parse(clientID);
  const isCanonical = url?.href === clientID && !url.username && !url.password;
  return isCanonical && !clientID.includes('#') ? url : undefined;
}

/** Returns true if a `client_id` is the URL of a metadata document. No Client object has such a name. */
export const isDocumentURL = (clientID: string): boolean => documentURL(clientID) !== undefined;
