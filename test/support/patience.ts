import { StatusError } from '../../registry/status.js';

/** Reads until it holds, for what follows an answer a moment later. */
export async function settles<T>(
  look: () => PromiseLike<T>,
  holds: (seen: T) => boolean,
): Promise<T> {
  for (let i = 0; ; i += 1) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (i > 3_000) throw new Error(`it never came about: ${JSON.stringify(seen).slice(0, 600)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/**
 * Does it, and does it again while the answer is 503: then nothing was written, and anyone who calls
 * may simply repeat.
 */
export async function insists<T>(work: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'ServiceUnavailable' || i === 200)
        throw error;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}
