/** Returns the code of a system error, such as ENOENT; undefined for another error. */
export const errorCode = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException).code;

/** Returns the message of an error that was thrown. */
export const errorMessage = (error: unknown): string => (error as Error).message;
