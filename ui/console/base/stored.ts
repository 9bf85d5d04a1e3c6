import { useEffect, useState } from 'preact/hooks';

function read<T>(key: string): T | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  try {
    if (value === undefined) {
      sessionStorage.removeItem(key);
    } else {
      sessionStorage.setItem(key, JSON.stringify(value));
    }
  } catch {
    /* storage is off or full: a sign-in in between loses what was typed */
  }
}

/**
 * A value that outlives a sign-in and a reload in this tab, under the account that typed it.
 * `isRestored` is whether it was there at first; undefined removes it.
 */
export function useStored<T>(
  account: string,
  name: string,
): { value: T | undefined; isRestored: boolean; set: (value: T | undefined) => void } {
  const key = `vestibule.console ${account} ${name}`;
  const [value, setValue] = useState(() => read<T>(key));
  const [isRestored, setRestored] = useState(value !== undefined);
  useEffect(() => {
    if (value === undefined) setRestored(false);
  }, [value]);
  const set = (next: T | undefined): void => {
    write(key, next);
    setValue(next);
  };
  return { value, isRestored, set };
}
