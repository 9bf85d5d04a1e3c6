/** Reads until it holds, for what follows an answer a moment later. */
export async function settles<T>(look: () => PromiseLike<T>, holds: (seen: T) => boolean): Promise<T> {
  for (let i = 0; ; i += 1) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (i > 1_000) throw new Error(`it never came about: ${JSON.stringify(seen).slice(0, 600)}`);
    await new Promise((resolve) => { setTimeout(resolve, 20) });
  }
}
