/** What ends a command: said in a line or two on standard error. Exit codes: 1 refused, failed or unreachable; 2 wrong usage (`operations.md` 9). */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: 1 | 2;

  constructor(message: string, code: 1 | 2 = 1) {
    super(message);
    this.code = code;
  }
}

/** A sign-in that has ended: another one helps. */
export class SignedOut extends Failure {
  constructor() { super('you are not signed in any more: vestibule login') }
}
