import { z } from 'zod';
import { describePattern, lineOfText } from '../../registry/pattern.js';

/**
 * A line of text for people, from people or Clients: judged as it was sent, kept in Unicode's
 * normal form C.
 */
export const line = (max: number, least = 1) => z.string().min(least).max(max).regex(lineOfText);

/** RFC 3339, UTC, whole seconds. */
export const timestamp = () => z.string().datetime();

/** An https address; plain http where the host is loopback. */
export const webAddress = () =>
  z
    .string()
    .max(2048)
    .regex(
      describePattern(
        /^https?:\/\/[^\s"'<>\\^`{|}\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+$/,
        'must be a web address',
      ),
    );

/**
 * An address to redirect to, as RFC 3986 writes URIs: printable ASCII without a space or a
 * backslash.
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
