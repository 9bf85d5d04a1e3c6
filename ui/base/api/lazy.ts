import { useEffect, useState } from 'preact/hooks';

/** A chunk of this page that is loaded when it is likely to be needed. */
export class Lazy<T> {
  readonly #fetch: () => Promise<T>;
  #pending: Promise<T> | undefined;
  loaded: T | undefined;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  /** Loads the chunk once. Rejects if that fails; the next call tries again. */
  load(): Promise<T> {
    return (this.#pending ??= this.#fetch().then(
      (part) => (this.loaded = part),
      (thrown: unknown) => {
        this.#pending = undefined;
        throw thrown;
      },
    ));
  }
}

/** Returns a chunk after it is loaded; `isMissing` is true if it could not be loaded. */
export function useLazy<T>(part: Lazy<T> | undefined): {
  loaded: T | undefined;
  isMissing: boolean;
} {
  const [missing, setMissing] = useState(false);
  const [, render] = useState(part?.loaded);
  useEffect(() => {
    part?.load().then(render, () => setMissing(true));
  }, [part]);
  return { loaded: part?.loaded, isMissing: missing };
}
