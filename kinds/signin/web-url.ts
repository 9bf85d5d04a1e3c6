import { isLoopback } from '../../security/loopback.js';

/** Returns true for an https URL, or http on loopback, without user information. */
export function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    !url.username &&
    !url.password &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
  );
}
