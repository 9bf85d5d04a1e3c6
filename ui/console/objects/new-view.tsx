import { useMemo, useState } from 'preact/hooks';
import { call } from '../../base/api/api.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import type { ObjectMeta } from '../../api.js';
import { useConsole, useDocument } from '../base/console-context.js';
import { singularOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { fromDraft, isUntouched, toDraft, type Draft, type Faults } from '../base/draft.js';
import { Frame } from '../base/frame.js';
import { createCommand } from '../base/kubectl.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { ObjectForm } from './object-form.js';
import { navigate, pathTo } from '../base/route.js';
import { draftSchema, propertyOf, type OpenAPI, type Schema } from '../base/schema.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';

/** Returns the schema of the form: metadata and spec. */
function formSchema(document: OpenAPI, kind: Kind): Schema {
  const draft = draftSchema(document, kind);
  const metadata = propertyOf(document, draft, 'metadata');
  return {
    type: 'object',
    required: ['spec', ...(metadata.properties?.name ? ['metadata'] : [])],
    properties: { metadata, spec: propertyOf(document, draft, 'spec') },
  };
}

/** Returns the body of the request, as kubectl sends it. */
const bodyOf = ({ apiVersion, kind }: Kind, { metadata, spec }: JsonObject): object => ({
  apiVersion,
  kind,
  metadata: isObject(metadata) ? metadata : {},
  spec,
});

/** The form of a new object; `query` may suggest a name. */
export function NewView({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const document = useDocument();
  const { account } = useConsole();
  const schema = useMemo(() => formSchema(document, kind), [document, kind]);
  const name = query.get('name');
  const empty = useMemo(
    () => toDraft(document, schema, name === null ? undefined : { metadata: { name } }),
    [schema],
  );
  const stored = useStored<Draft>(account, `${kind.resource}/-/new`);
  const [faults, setFaults] = useState<Faults>();
  const { busy, failure, run } = useRequest();
  const draft = stored.value ?? empty;
  const read = fromDraft(document, schema, draft, undefined);
  const body = bodyOf(kind, read.value);
  const save = async (): Promise<void> => {
    setFaults(read.faults);
    if (read.faults.size) return;
    await run(async () => {
      const { metadata } = await call<{ metadata: ObjectMeta }>('POST', kind.path, body);
      stored.set(undefined);
      announce(t('console.created', { name: metadata.name }));
      navigate(pathTo(kind.resource, metadata.name), true);
    });
  };
  const title = singularOf(kind);
  return (
    <Frame title="console.new" values={{ kind: title }} kind={kind}>
      <ObjectForm
        schema={schema}
        draft={draft}
        before={undefined}
        busy={busy}
        failure={failure}
        faults={faults}
        command={read.faults.size ? undefined : createCommand(body)}
        isRestored={stored.isRestored}
        save={t('console.create')}
        onDraft={(next) =>
          stored.set(isUntouched(document, schema, next, undefined) ? undefined : next)
        }
        onSave={() => void save()}
        onCancel={() => {
          stored.set(undefined);
          navigate(pathTo(kind.resource));
        }}
      />
    </Frame>
  );
}
