/** The longest text of a warning, in characters. */
const maxLength = 400;

/**
 * Returns the value of a Warning header as Kubernetes sends it (RFC 7234 §5.5, code 299). Characters
 * that a header cannot have become `?`.
 */
export const warningHeader = (text: string): string => {
  const printable = text.slice(0, maxLength).replace(/[^\x20-\x7e]/g, '?');
  return `299 - "${printable.replace(/["\\]/g, '\\$&')}"`;
};
