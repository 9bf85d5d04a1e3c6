const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Text of a service as a terminal may be given it: without characters that steer one. */
export const plain = (text: string): string => text.replaceAll(steering, '\ufffd');

/**
 * Text within quotes that JSON and YAML understand: such characters stay what they are, written as
 * escapes.
 */
export const escaped = (text: string): string =>
  text.replaceAll(steering, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Gives standard output text of a service. */
export const out = (text: string): void => void process.stdout.write(plain(text));

/** Gives standard error text, of a service or our own. */
export const say = (text: string): void => void process.stderr.write(plain(text));
