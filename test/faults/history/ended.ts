import type { Accepted, Fault, History, SignOut } from './history.js';

/**
 * How long after its sign-out was answered a session may still be accepted: anywhere, and where a
 * replica's watch was cut.
 */
export const graces = { anywhere: 1_000, cut: 3_000 };

/**
 * (7) Nothing is accepted past its stored time, nor so long after its sign-out was answered;
 * `slack` is what the machine is given on top, in milliseconds.
 */
export function ended(history: History, slack = 0): string[] {
  const accepted = history.calls.filter((call): call is Accepted => call.type === 'accepted');
  const outs = new Map(
    history.calls
      .filter((call): call is SignOut => call.type === 'signout' && call.outcome === 'done')
      .map((call) => [call.session, call.end!]),
  );
  return accepted.flatMap(({ session, start, sent, until, tolerance = 0 }) => {
    const out = session === undefined ? undefined : outs.get(session);
    const late = out === undefined ? 0 : start - out;
    const grace =
      (history.faults.some((fault) => cuts(fault, out ?? 0, start))
        ? graces.cut
        : graces.anywhere) + slack;
    return [
      ...(late > grace
        ? [`${session} was accepted ${late.toFixed(0)} ms after its sign-out had been answered`]
        : []),
      ...(until !== undefined && sent! > until + tolerance
        ? [`what ended at ${until} was accepted when sent at ${sent}`]
        : []),
    ];
  });
}

/** Whether a fault, or its aftermath, fell between a sign-out and what was accepted after it. */
const cuts = (fault: Fault, out: number, accepted: number): boolean =>
  fault.start < accepted && fault.end + graces.cut > out;
