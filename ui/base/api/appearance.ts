import { useEffect, useState } from 'preact/hooks';
import type { Appearance } from '../../api.js';
import { call } from './api.js';

let spec: Appearance['spec'] = {};
let pending: Promise<void> | undefined;

/**
 * Reads the Appearance of this deployment, once. The response is preloaded with the page. If it
 * fails, the page looks as it does without an Appearance.
 */
export const loadAppearance = (): Promise<void> =>
  (pending ??= call<Appearance>('GET', 'appearances/default').then(
    (found) => {
      spec = found.spec;
    },
    () => undefined,
  ));

/** Returns the name, logo and links of this deployment; empty until they are loaded. */
export function useAppearance(): Appearance['spec'] {
  const [current, set] = useState(spec);
  useEffect(() => void loadAppearance().then(() => set(spec)), []);
  return current;
}
