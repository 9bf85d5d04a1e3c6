import { timed } from './timed.js';

/** The factor of every wait, measured at the start of the run (measure-machine.mjs). */
const patience = Number(process.env.VESTIBULE_TEST_PATIENCE ?? 1);

/** A time in milliseconds as long as this machine needs it. */
export const scaled = (milliseconds: number): number => Math.round(milliseconds * patience);

const pause = (milliseconds: number): Promise<void> =>
  timed(
    'wait',
    () =>
      new Promise((resolve) => {
        setTimeout(resolve, milliseconds);
      }),
  );

/** Reads until it holds, for what follows an answer a moment later. */
export async function settles<T>(
  look: () => PromiseLike<T>,
  holds: (seen: T) => boolean,
  milliseconds = 60_000,
): Promise<T> {
  for (const end = performance.now() + scaled(milliseconds); ; await pause(20)) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > end) {
      throw new Error(`it never came about: ${JSON.stringify(seen)?.slice(0, 600)}`);
    }
  }
}

/** Resolves once something holds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  milliseconds = 60_000,
): Promise<void> {
  await settles(async () => holds(), Boolean, milliseconds);
}
