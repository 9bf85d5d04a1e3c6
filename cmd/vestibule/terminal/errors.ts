import { program } from './program-name.js';

/**
 * What ends a command: said in a line or two on standard error. Exit codes: 1 refused, failed or
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

/** A sign-in that has ended: another one helps. */
export class SignedOut extends CommandError {
  constructor() {
    super(`you are not signed in any more: ${program} login`);
  }
}

/** What is said as kubectl says it, without our name before it. */
export class Told extends CommandError {
  override readonly name = 'Told';
}

/** What a service refuses, by the HTTP status it answered with. */
export class ApiRefusalError extends Told {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Does all of it, whatever fails in between; then ends with every failure, a line each. Anything
 * that is not a Failure ends it at once.
 */
export async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const failures: CommandError[] = [];
  for (const one of all) {
    try {
      await work(one);
    } catch (error) {
      if (!(error instanceof ApiRefusalError)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new Told(failures.map(({ message }) => message).join('\n'));
}
