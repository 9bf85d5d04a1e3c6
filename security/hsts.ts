/**
 * Two years of https alone, without subdomains, which are not ours to speak for; nothing where the
 * base URL is http (RFC 6797 §7.2).
 */
export const hsts = (baseURL: string): readonly string[] =>
  baseURL.startsWith('https:') ? ['Strict-Transport-Security', 'max-age=63072000'] : [];
