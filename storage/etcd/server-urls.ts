/** Loopback, as a URL's host names it. */
type IsLocal = (host: string) => boolean;

/**
 * Returns why texts cannot be the URLs of etcd's servers; undefined if they can. Shows a text only
 * if it holds no secret: a comma in a password makes two texts of one URL.
 */
export function serverUrlsProblem(urls: readonly string[], isLocal: IsLocal): string | undefined {
  if (urls.some((url) => url.includes('@'))) {
    return (
      'a URL has a user and a password; remove them. Set --etcd-username and --etcd-password, or a ' +
      'client certificate: --etcd-certfile and --etcd-keyfile'
    );
  }
  for (const [i, text] of urls.entries()) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.href.replace(/\/$/, '') !== url.origin) {
      return `URL ${i + 1} must be a scheme, a host and a port, such as https://etcd.example.org:2379`;
    }
    if (url.protocol === 'http:' && !isLocal(url.hostname)) {
      return `${url.origin} must be https, or http on loopback`;
    }
  }
  return undefined;
}

/**
 * Returns the URL of a server with its port and nothing behind it. gRPC would take 443 where a URL
 * of http has the port that is its default.
 */
export function serverAddress(text: string): string {
  const { protocol, hostname, port } = new URL(text);
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
