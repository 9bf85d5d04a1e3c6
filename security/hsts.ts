/**
 * Returns the header for two years of https without subdomains, which may belong to others; empty
 * if the base URL is http (RFC 6797 §7.2).
 */
export const hsts = (baseURL: string): readonly string[] =>
  baseURL.startsWith('https:') ? ['Strict-Transport-Security', 'max-age=63072000'] : [];
