import { useState } from 'preact/hooks';
import { call, type ApiError } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import type { Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { faultsOf, useFaults, type Texts } from '../base/use-faults.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';
import { patchOf, type Setting, type Settings } from './setting.js';

/** The name of the one object of the kind. */
export const settingsName = 'default';

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
    faults: request.failure ? { ...faults, ...faultsOf(request.failure) } : faults,
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
