import { z } from 'zod';
import { describePattern, lineOfText } from '../../registry/schema/pattern.js';

/**
 * Returns the schema of a line of text that people read and compare. It is validated as sent and
 * stored in Unicode NFC (docs/design/wire.md#text-that-people-compare).
 */
export const line = (max: number) => z.string().min(1).max(max).regex(lineOfText);

/** Returns the schema of a language tag (BCP 47). */
export const languageTag = () =>
  z
    .string()
    .max(35)
    .regex(
      describePattern(
        /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
        'must be a language tag such as en or de-CH',
      ),
    );

/**
 * Returns the schema of a text in several languages, described as `what`. `languageFaults` checks
 * their number and their tags.
 */
export const texts = (max: number, what: string) =>
  z
    .record(z.string(), line(max))
    .optional()
    .describe(
      `${what} by language tag (BCP 47), in at most 32 languages. Tags are in canonical form: ` +
        'de-CH, not de-ch.',
    );

/** Returns the schema of the same in a status. */
export const statusTexts = (what: string) =>
  z.record(z.string(), z.string()).optional().describe(`${what} by language tag (BCP 47).`);

/** Returns the members of a status that name something: `what` it is, and how people know it. */
export const displayed = (what: string) => ({
  name: z.string().describe(what),
  displayName: z.string().describe('Its display name.'),
  displayNames: statusTexts('Its display name'),
});

/** Returns the members of a status that name an Audience. */
export const displayedAudience = (what: string) => ({
  ...displayed(what),
  operatedBy: z.string().optional().describe('Who runs it.'),
  homepageURI: z.string().optional().describe('Home page.'),
});

/** Returns the members of a status that name a claim. */
export const displayedClaim = () => ({
  claim: z.string().describe('Claim.'),
  title: z.string().describe('A short title.'),
  titles: statusTexts('The title'),
});

/** Returns the schema of the name that a Client gives itself in its metadata document. */
export const declaredName = () =>
  z
    .string()
    .optional()
    .describe(
      'The name in its metadata document (client_name). Anyone can choose it, so the display name ' +
        'is the host of the document. Absent for a Client without such a document.',
    );

/** Returns the schema of a timestamp: RFC 3339, UTC. */
export const timestamp = () => z.string().datetime();

const webAddressOf = (scheme: string, what: string) => {
  const unsafe = '\\s"\'<>\\\\^`{|}\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';
  const pattern = new RegExp(`^${scheme}:\\/\\/[^@/?#${unsafe}]+([/?#][^${unsafe}]*)?$`);
  return z.string().max(2048).regex(describePattern(pattern, what));
};

/**
 * Returns the schema of a web address, http or https, without user information. Kinds that need
 * https outside loopback check it themselves.
 */
export const webAddress = () =>
  webAddressOf('https?', 'must be a web address without user information');

/** Returns the schema of a web address that is https. */
export const httpsAddress = () =>
  webAddressOf('https', 'must be an https address without user information');

/**
 * Returns the schema of a redirect URI: printable ASCII without spaces and backslashes (RFC 3986).
 */
export const redirectURI = () =>
  z
    .string()
    .min(1)
    .max(2048)
    .regex(
      describePattern(
        /^[\x21-\x5b\x5d-\x7e]*$/,
        'must be printable ASCII without spaces and backslashes',
      ),
    );

/** Returns the schema of the token of an emailed link: 256 bits, base64url. */
export const linkToken = () =>
  z.string().regex(describePattern(/^[A-Za-z0-9_-]{43}$/, 'must be the token of an emailed link'));

/** Returns the schema of a problem with the delivery of a mail; absent without one. */
export const deliveryState = () =>
  z
    .enum(['Deferred', 'Failed', 'Unknown'])
    .optional()
    .describe(
      'A delivery problem. Deferred: delivery is retried. Failed: the mail server refused the ' +
        'email permanently. Unknown: it is unknown whether the mail server accepted it. ' +
        'Absent without a problem.',
    );
