import { lineRequirement } from './pattern.js';

/** Control, format, surrogate, private-use and default-ignorable characters, and ends of lines. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;

/** Tabs, ends of lines, every space but U+0020, and characters whose glyph is blank. */
const blank =
  /[\t\n\r\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** An emoji as Unicode recommends it, with its joiners, selectors and tags. */
const emoji = new RegExp('\\p{RGI_Emoji}', 'gv');

/**
 * Joiners that change how letters look (after RFC 5892, appendices A.1 and A.2): U+200C between two
 * letters of Arabic that would connect, both after a virama and before a letter, and U+200D in the
 * Bengali ra with ya-phala and the older form of a Malayalam chillu.
 */
const joiners =
  /(?<=[\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff]\p{Mn}{0,4})\u200c(?=[\u0620\u0622-\u063f\u0641-\u064a\u066e-\u0673\u0675-\u06d3\u06fa-\u06fc\u06ff])|(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d](?=\p{L})|(?<=\u09b0)\u200d(?=\u09cd\u09af)|(?<=[\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d)\u200d/gu;

const shown = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Returns whether text has a character other than tabs and ends of lines that readers cannot see,
 * where no emoji and no letter needs it (docs/design/wire.md#text-that-people-compare).
 */
export function hasInvisibleCharacters(text: string): boolean {
  const visible = text.replace(/[\t\n\r]/g, ' ');
  return (
    invisible.test(visible) && invisible.test(visible.replace(emoji, '\u25a0').replace(joiners, ''))
  );
}

/** Returns what a line of text for people must be; undefined if it is that. */
export function lineFault(text: string): string | undefined {
  if (hasInvisibleCharacters(text) || blank.test(text)) return lineRequirement;
  return shown.test(text) ? undefined : 'must show something';
}
