import { useState } from 'preact/hooks';
import type { ObjectMeta } from '../../api.js';
import { call, type ApiError } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import type { Kind } from '../base/kind.js';
import { objectPath } from '../base/kubectl.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { useStored } from '../base/stored.js';
import { faultsOf, useFaults, type Texts } from './use-faults.js';
import { useRequest } from '../base/use-request.js';

/** The name of the one object of kinds such as Settings. */
export const onlyName = 'default';

/** A field below spec that is typed as text. */
export interface TextField {
  /** Its path; undefined if the object has no such field. */
  readonly field?: string | undefined;
  readonly value?: string | undefined;
  readonly isCount?: boolean;
}

/** Returns the merge patch that gives fields these texts; an empty one takes the field away. */
export function patchOf(
  fields: readonly TextField[],
  texts: Texts,
  version: string | undefined,
): JsonObject {
  const spec: Record<string, unknown> = {};
  for (const { field, isCount } of fields) {
    const text = field === undefined ? undefined : texts[field]?.trim();
    if (field === undefined || text === undefined) continue;
    const isNumber = isCount && /^\d+$/.test(text);
    const value = isNumber ? Number(text) : text || null;
    const [first = '', second] = field.split('.');
    const former = spec[first];
    spec[first] = second ? { ...(isObject(former) && former), [second]: value } : value;
  }
  return { metadata: { resourceVersion: version }, spec };
}

/** What is typed for fields, and how it is saved: all of it in one request. */
export interface Edits {
  readonly texts: Texts;
  readonly faults: Texts;
  /** The fields that were saved last. */
  readonly saved: readonly string[];
  readonly busy: boolean;
  readonly failure: ApiError | undefined;
  /** What would be sent; undefined if nothing was changed. */
  readonly patch: JsonObject | undefined;
  readonly type: (field: string, text: string | undefined) => void;
  readonly discard: () => void;
  readonly save: () => void;
}

/** Returns what is typed over the one object of a kind; it outlives a sign-in that is required. */
export function useEdits<T extends { readonly metadata: ObjectMeta }>(
  kind: Kind,
  fields: readonly TextField[],
  version: string | undefined,
  onSaved: (object: T) => void,
): Edits {
  const stored = useStored<Texts>(useConsole().account, `${kind.resource}/values`);
  const [saved, setSaved] = useState<readonly string[]>([]);
  const request = useRequest();
  const texts = stored.value ?? {};
  const changed = fields.filter(
    ({ field, value = '' }) => field && texts[field] !== undefined && texts[field] !== value,
  );
  const patch = changed.length > 0 ? patchOf(changed, texts, version) : undefined;
  const path = objectPath(kind, onlyName);
  const faults = useFaults(path, version ? patch : undefined);
  const put = (next: Texts): void => {
    setSaved([]);
    request.clear();
    stored.set(Object.keys(next).length > 0 ? next : undefined);
  };
  const save = async (): Promise<void> => {
    if (!patch) return put({});
    const isDone = await request.run(async () => onSaved(await call<T>('PATCH', path, patch)));
    if (!isDone) return;
    put({});
    setSaved(changed.map(({ field }) => field!));
    announce(t('console.edit.saved'));
  };
  return {
    ...request,
    texts,
    faults: request.failure ? { ...faults, ...faultsOf(request.failure) } : faults,
    saved,
    patch,
    type: (field, text) => {
      const { [field]: _former, ...others } = texts;
      put(text === undefined ? others : { ...others, [field]: text });
    },
    discard: () => put({}),
    save: () => void save(),
  };
}
