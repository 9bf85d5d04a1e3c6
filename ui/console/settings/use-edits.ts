import { useEffect, useState } from 'preact/hooks';
import type { Settings } from '../../api.js';
import { ApiError, call } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import type { Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';
import { patchOf, type Setting } from './setting.js';

/** The name of the one object of the kind. */
export const settingsName = 'default';

type Texts = Readonly<Record<string, string>>;

/** How long after a key the service is asked about what was typed. */
const pauseMs = 300;

const causesOf = (failure: ApiError): Texts =>
  Object.fromEntries(
    (failure.code === 422 ? (failure.details.causes ?? []) : []).map(
      ({ field = '', message = '' }) => [field.replace(/^spec\./, ''), message],
    ),
  );

/** Asks the service about a patch while it is typed. Returns all its faults, by the field. */
function useFaults(path: string, patch: object | undefined): Texts {
  const [faults, setFaults] = useState<Texts>({});
  useEffect(() => {
    setFaults({});
    if (!patch) return undefined;
    let isNewest = true;
    const ask = (): Promise<void> =>
      call('PATCH', `${path}?dryRun=All`, patch).then(
        () => undefined,
        (thrown: unknown) => {
          if (isNewest && thrown instanceof ApiError) setFaults(causesOf(thrown));
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

/** What is typed for settings, by their fields, and how it is saved: all of it in one request. */
export interface Edits {
  readonly texts: Texts;
  readonly faults: Texts;
  /** The fields that were saved last. */
  readonly saved: readonly string[];
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /** The command that saves it; undefined if nothing was typed. */
  readonly command: string | undefined;
  readonly type: (field: string, text: string | undefined) => void;
  readonly discard: () => void;
  readonly save: () => void;
}

/** Returns what is typed; it outlives a sign-in that the service requires. */
export function useEdits(
  kind: Kind,
  settings: readonly Setting[],
  version: string,
  saved: (object: Settings) => void,
): Edits {
  const stored = useStored<Texts>(useConsole().account, 'settings/values');
  const [fields, setFields] = useState<readonly string[]>([]);
  const request = useRequest();
  const texts = stored.value ?? {};
  const changed = settings.filter(
    ({ field, value = '' }) => field && texts[field] !== undefined && texts[field] !== value,
  );
  const patch = changed.length > 0 ? patchOf(changed, texts, version) : undefined;
  const path = objectPath(kind, settingsName);
  const faults = useFaults(path, patch);
  const put = (next: Texts): void => {
    setFields([]);
    request.clear();
    stored.set(Object.keys(next).length > 0 ? next : undefined);
  };
  const save = async (): Promise<void> => {
    if (!patch) return put({});
    const isDone = await request.run(async () => {
      saved(await call<Settings>('PATCH', path, patch));
    });
    if (!isDone) return;
    put({});
    setFields(changed.map(({ field }) => field!));
    announce(t('settings.saved'));
  };
  return {
    ...request,
    texts,
    faults: request.failure ? { ...faults, ...causesOf(request.failure) } : faults,
    saved: fields,
    command: patch && patchCommand(kind, settingsName, patch),
    type: (field, text) => {
      const { [field]: _former, ...others } = texts;
      put(text === undefined ? others : { ...others, [field]: text });
    },
    discard: () => put({}),
    save: () => void save(),
  };
}
