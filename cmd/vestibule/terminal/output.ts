const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Returns text of a service without characters that control a terminal. */
export const stripControls = (text: string): string => text.replaceAll(controlCharacters, '\ufffd');

/** Escapes control characters inside quoted text, as JSON and YAML do. */
export const escapeControls = (text: string): string =>
  text.replaceAll(
    controlCharacters,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Writes text of a service to standard output. */
export const writeOut = (text: string): void => void process.stdout.write(stripControls(text));

/** Writes text to standard error, from a service or this program. */
export const writeError = (text: string): void => void process.stderr.write(stripControls(text));
