const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns text of a service without characters that control a terminal. */
export const plain = (text: string): string => text.replaceAll(steering, '\ufffd');

/** Escapes control characters inside quoted text, as JSON and YAML do. */
export const escaped = (text: string): string =>
  text.replaceAll(steering, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes text of a service to standard output. */
export const out = (text: string): void => void process.stdout.write(plain(text));

/** Writes text to standard error, from a service or this program. */
export const say = (text: string): void => void process.stderr.write(plain(text));
