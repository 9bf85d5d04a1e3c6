import { useEffect, useState } from 'preact/hooks';

/** A piece of this page that is fetched when it is likely to be needed. */
export class Lazy<T> {
  readonly #fetch: () => Promise<T>;
  #coming: Promise<T> | undefined;
  here: T | undefined;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  /** Fetches it once; rejects where that fails, and tries again when asked again. */
  get(): Promise<T> {
    return (this.#coming ??= this.#fetch().then(
      (part) => (this.here = part),
      (thrown: unknown) => {
        this.#coming = undefined;
        throw thrown;
      },
    ));
  }
}

/** A part where it is wanted, once it is here; `missing` when it could not be fetched. */
export function usePart<T>(part: Lazy<T> | undefined): { here: T | undefined; missing: boolean } {
  const [missing, setMissing] = useState(false);
  const [, render] = useState(part?.here);
  useEffect(() => {
    part?.get().then(render, () => setMissing(true));
  }, [part]);
  return { here: part?.here, missing };
}
