import { useEffect, useState } from 'preact/hooks';
import { ApiError, call } from '../../base/api/api.js';

/** Texts by the field below spec that they belong to. */
export type Texts = Readonly<Record<string, string>>;

/** How long after a key the service is asked about what was typed. */
const pauseMs = 300;

/** Returns the faults that a refusal names, by the field below spec. */
export const faultsOf = (failure: ApiError): Texts =>
  Object.fromEntries(
    (failure.code === 422 ? (failure.details.causes ?? []) : []).map(
      ({ field = '', message = '' }) => [field.replace(/^spec\./, ''), message],
    ),
  );

/** Asks the service about a patch while it is typed. Returns all its faults. */
export function useFaults(path: string, patch: object | undefined): Texts {
  const [faults, setFaults] = useState<Texts>({});
  useEffect(() => {
    setFaults({});
    if (!patch) return undefined;
    let isNewest = true;
    const ask = (): Promise<void> =>
      call('PATCH', `${path}?dryRun=All`, patch).then(
        () => undefined,
        (thrown: unknown) => {
          if (isNewest && thrown instanceof ApiError) setFaults(faultsOf(thrown));
        },
      );
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [path, JSON.stringify(patch)]);
  return faults;
}
