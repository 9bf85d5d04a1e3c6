import { z } from 'zod';

/** A line of text from people or Clients: no control characters, no bidi overrides (`api.md` 4). */
export const line = (most: number, least = 1) =>
  z.string().min(least).max(most).regex(/^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/);

/** RFC 3339, UTC, whole seconds. */
export const timestamp = () => z.string().datetime();

/** An https address; plain http where the host is loopback. */
export const webAddress = () => z.string().max(2048).regex(/^https?:\/\/[^\s"'<>\\^`{|}\u0000-\u001f\u007f]+$/);
