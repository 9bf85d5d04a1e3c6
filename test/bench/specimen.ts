/** The bytes of a watch event about an object, as they are sent. */
export const event = (object: unknown): string =>
  `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
