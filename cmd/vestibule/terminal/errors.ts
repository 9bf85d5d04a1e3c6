import { program } from './program-name.js';

/**
 * An error that ends the command with a message on standard error. Exit codes: 1 refused, failed or
 * unreachable; 2 wrong usage (docs/design/operations.md#command).
 */
export class CommandError extends Error {
  override readonly name: string = 'Failure';
  readonly code: 1 | 2;

  constructor(message: string, code: 1 | 2 = 1) {
    super(message);
    this.code = code;
  }
}

/** The sign-in has ended; a new one is needed. */
export class SignedOutError extends CommandError {
  constructor() {
    super(`your sign-in has ended: ${program} login`);
  }
}

/** An error that is printed exactly as kubectl prints it, without the program name. */
export class KubectlStyleError extends CommandError {
  override readonly name = 'KubectlStyleError';
}

/** A Status of the service, with its HTTP status. */
export class ApiStatusError extends KubectlStyleError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Runs `work` for every item even if some are refused, then throws all refusals, one a line. Any
 * other error is thrown at once.
 */
export async function forEachCollectingErrors<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: CommandError[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw new KubectlStyleError(failures.map(({ message }) => message).join('\n'));
  }
}
