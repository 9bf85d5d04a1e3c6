import { useMemo, useState } from 'preact/hooks';
import type { ObjectMeta } from '../../api.js';
import { ApiError, call } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import { Conflict } from './conflict.js';
import { useConsole, useDocument } from '../base/console-context.js';
import type { Kind } from '../base/kind.js';
import { fromDraft, toDraft, type Draft, type Faults } from '../base/draft.js';
import { Frame } from '../base/frame.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { fieldChanges, isObject, isSame, mergePatch, type JsonObject } from '../base/merge.js';
import { ObjectForm } from './object-form.js';
import { Failure, Loading } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { objectSchema, propertyOf, type OpenAPI, type Schema } from '../base/schema.js';
import { useStored } from '../base/stored.js';
import { useRequest, useSignInFor } from '../base/use-request.js';

interface ApiObject {
  readonly metadata: ObjectMeta;
  readonly spec: JsonObject;
}

/** What was typed, and the version that it changes. */
interface Edit {
  readonly version: string;
  readonly before: JsonObject;
  readonly draft: Draft;
}

/** What a merge patch may change of every kind. */
function formSchema(document: OpenAPI, kind: Kind): Schema {
  const schema = objectSchema(document, kind);
  const { labels, annotations } = propertyOf(document, schema, 'metadata').properties ?? {};
  return {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: propertyOf(document, schema, 'spec'),
      metadata: {
        type: 'object',
        properties: { labels: labels ?? {}, annotations: annotations ?? {} },
      },
    },
  };
}

/** Returns the part of an object that the form shows. */
function editable({ metadata: { labels, annotations }, spec }: ApiObject): JsonObject {
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) };
  return { spec, ...(Object.keys(metadata).length && { metadata }) };
}

/** Returns the patch, which fails if the object is not of this version any more. */
function versionedPatch(version: string, patch: JsonObject): JsonObject {
  const { metadata, ...rest } = patch;
  return {
    metadata: { resourceVersion: version, ...(isObject(metadata) && metadata) },
    ...rest,
  };
}

interface Changed {
  readonly now: ApiObject;
  readonly mine: JsonObject;
}

/**
 * Sends a patch. Returns the object as it is now if someone else changed what the form shows;
 * other changes, such as those of the status, do not count.
 */
async function patchUnlessChanged(
  path: string,
  version: string,
  before: JsonObject,
  mine: JsonObject,
): Promise<Changed | undefined> {
  try {
    await call('PATCH', path, versionedPatch(version, mergePatch(before, mine)));
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== 409) throw thrown;
    const now = await call<ApiObject>('GET', path);
    const { resourceVersion } = now.metadata;
    if (isSame(before, editable(now)) && resourceVersion !== version) {
      return patchUnlessChanged(path, resourceVersion, before, mine);
    }
    return { now, mine };
  }
}

interface FormProps {
  kind: Kind;
  name: string;
  edit: Edit;
  schema: Schema;
  stored: ReturnType<typeof useStored<Edit>>;
}

/** Saves an edit, and what is between it and a saved object: faults, a conflict, an error. */
function useSaving({ kind, name, edit, schema, stored }: FormProps) {
  const document = useDocument();
  const [faults, setFaults] = useState<Faults>();
  const [changed, setChanged] = useState<Changed>();
  const request = useRequest();
  const { value, faults: found } = fromDraft(document, schema, edit.draft, edit.before);
  const leave = (): void => {
    stored.set(undefined);
    navigate(pathTo(kind.resource, name), true);
  };
  const send = ({ version, before }: Omit<Edit, 'draft'>, mine: JsonObject): Promise<boolean> =>
    request.run(async () => {
      const path = objectPath(kind, name);
      const other = await patchUnlessChanged(path, version, before, mine);
      setChanged(other);
      if (other) return;
      announce(t('console.saved', { name }));
      leave();
    });
  const save = (): void => {
    setFaults(found);
    request.clear();
    if (found.size) return;
    if (isSame(edit.before, value)) {
      announce(t('console.unchanged'));
    } else {
      void send(edit, value);
    }
  };
  const merge = (now: ApiObject, merged: JsonObject): void => {
    const next = { version: now.metadata.resourceVersion, before: editable(now) };
    stored.set({ ...next, draft: toDraft(document, schema, merged) });
    setChanged(undefined);
    if (isSame(next.before, merged)) {
      leave();
    } else {
      void send(next, merged);
    }
  };
  const patch = versionedPatch(edit.version, mergePatch(edit.before, value));
  const command = found.size ? undefined : patchCommand(kind, name, patch);
  const back = (): void => setChanged(undefined);
  return { ...request, faults, changed, command, save, merge, leave, back };
}

function Form(props: FormProps) {
  const { edit, schema, stored } = props;
  const { changed, save, merge, leave, back, ...shown } = useSaving(props);
  if (changed) {
    const theirs = editable(changed.now);
    return (
      <Conflict
        theirs={theirs}
        changes={fieldChanges(edit.before, changed.mine, theirs)}
        onMerge={(merged) => merge(changed.now, merged)}
        onCancel={back}
      />
    );
  }
  return (
    <ObjectForm
      schema={schema}
      draft={edit.draft}
      before={edit.before}
      busy={shown.busy}
      failure={shown.failure}
      faults={shown.faults}
      command={shown.command}
      isRestored={stored.isRestored}
      save={t('console.save')}
      onDraft={(draft) => stored.set({ ...edit, draft })}
      onSave={save}
      onCancel={leave}
    />
  );
}

/** The form of an object. It changes the version that it shows, and merges with later ones. */
export function EditView({ kind, name }: { kind: Kind; name: string }) {
  const document = useDocument();
  const { account } = useConsole();
  const schema = useMemo(() => formSchema(document, kind), [document, kind]);
  const stored = useStored<Edit>(account, `${kind.resource}/${name}/edit`);
  const load = async (): Promise<Edit> => {
    const object = await call<ApiObject>('GET', objectPath(kind, name));
    const before = editable(object);
    const version = object.metadata.resourceVersion;
    return { version, before, draft: toDraft(document, schema, before) };
  };
  const { value: loaded, failure } = useRead(stored.value ? undefined : load, []);
  useSignInFor(failure);
  const edit = stored.value ?? loaded;
  return (
    <Frame title="console.edit" values={{ name }} kind={kind} parent={name}>
      {failure && <Failure failure={failure} />}
      {!edit && !failure && <Loading />}
      {edit && <Form kind={kind} name={name} edit={edit} schema={schema} stored={stored} />}
    </Frame>
  );
}
