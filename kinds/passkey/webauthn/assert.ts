/**
 * Why an authenticator's answer is not accepted: for audits and tests alone, people are told one
 * sentence for all of them.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Throws a Fault unless it holds. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Fault(otherwise);
}
