import type { MessageID } from '../../messages/catalog.js';

/** An address as the API takes it, or what is wrong with what was typed. */
export type TypedAddress = { readonly email: string } | { readonly fault: MessageID };

/** Returns a domain in its ASCII form (UTS 46), or undefined if it has none. */
function asciiDomain(domain: string): string | undefined {
  const plain = domain.replaceAll('。', '.').replace(/\.$/, '');
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(plain)) return undefined;
  if (/^[\x20-\x7e]*$/.test(plain)) return plain;
  return URL.canParse(`http://${plain}`) ? new URL(`http://${plain}`).hostname : undefined;
}

/**
 * Reads an address as people type and paste it: format marks and full-width signs are mapped, spaces
 * around it and its parts left out, `Ada <ada@example.test>` and `mailto:` unwrapped, and a domain in
 * Unicode is written in ASCII.
 */
export function readAddress(typed: string): TypedAddress {
  const bare = typed
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Cc}]/gu, '')
    .trim();
  const inner = bare.endsWith('>') ? bare.slice(bare.lastIndexOf('<') + 1, -1) : bare;
  const plain = inner
    .replace(/^mailto:/i, '')
    .split(/([@.。])/)
    .map((part) => part.trim())
    .join('');
  const [local, domain, ...more] = plain.split('@');
  if (!local || !domain || more.length > 0) return { fault: 'address.fault.at' };
  if (/\s/.test(plain)) return { fault: 'address.fault.space' };
  if (!/^[\x21-\x7e]*$/.test(local)) return { fault: 'address.fault.local' };
  const ascii = asciiDomain(domain);
  return ascii !== undefined && /[^.]\.[^.]/.test(ascii)
    ? { email: `${local}@${ascii}` }
    : { fault: 'address.fault.domain' };
}
