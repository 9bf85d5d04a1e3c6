import { useEffect, useState } from 'preact/hooks';

function read<T>(storage: () => Storage, key: string): T | undefined {
  try {
    return JSON.parse(storage().getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function write(storage: () => Storage, key: string, value: unknown): void {
  try {
    if (value === undefined) {
      storage().removeItem(key);
    } else {
      storage().setItem(key, JSON.stringify(value));
    }
  } catch {
    /* storage is off or full: a sign-in in between loses what was typed */
  }
}

/**
 * A value that outlives a sign-in and a reload in this tab, or with `localStorage` the tab, under the
 * account that typed it. `isRestored` is whether it was there at first; undefined removes it.
 */
export function useStored<T>(
  account: string,
  name: string,
  storage: () => Storage = () => sessionStorage,
): { value: T | undefined; isRestored: boolean; set: (value: T | undefined) => void } {
  const key = `vestibule.console ${account} ${name}`;
  const [value, setValue] = useState(() => read<T>(storage, key));
  const [isRestored, setRestored] = useState(value !== undefined);
  useEffect(() => {
    if (value === undefined) setRestored(false);
  }, [value]);
  const set = (next: T | undefined): void => {
    write(storage, key, next);
    setValue(next);
  };
  return { value, isRestored, set };
}
