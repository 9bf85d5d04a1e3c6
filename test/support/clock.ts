const RealDate = Date;
let offset = 0;
/** The time at which the clock stands still. */
let heldAt: number | undefined;

/** Date itself under the test's control: the library's clock moves along, node's timers do not. */
class TestDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) {
      super(TestDate.now());
    } else {
      super(...(args as [number]));
    }
  }
  static override now(): number {
    return (heldAt ?? RealDate.now()) + offset;
  }
}

/** The clock of a test file; real time with an offset that the test moves. */
export const clock = {
  /** Puts the test's Date in place. */
  own(): void {
    globalThis.Date = TestDate as DateConstructor;
  },
  /**
   * Stands still until `release`, at the beginning of a minute: however slow the machine is, what is
   * counted by the minute is counted in one.
   */
  hold(): void {
    heldAt = Math.ceil(RealDate.now() / 60_000) * 60_000;
    globalThis.Date = TestDate as DateConstructor;
  },
  /** Moves on by so many milliseconds. */
  advance(milliseconds: number): void {
    offset += milliseconds;
  },
  release(): void {
    offset = 0;
    heldAt = undefined;
    globalThis.Date = RealDate;
  },
};
