import { useEffect, useState } from 'preact/hooks';

/** A piece of this page that is fetched when it is likely to be needed. */
export class Lazy<T> {
  readonly #fetch: () => Promise<T>;
  #pending: Promise<T> | undefined;
  loaded: T | undefined;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  /** Fetches it once; rejects where that fails, and tries again when asked again. */
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

/** A part where it is wanted, once it is here; `missing` when it could not be fetched. */
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
