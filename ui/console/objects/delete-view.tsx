import type { ObjectMeta } from '../../api.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { useClickGuard } from '../../base/click-guard.js';
import { announce } from '../../base/live-region.js';
import { format, t } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import { useConsole, useDocument } from '../base/console-context.js';
import { pluralOf, singularOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { Frame } from '../base/frame.js';
import { deleteCommand, deleteObject, objectPath } from '../base/kubectl.js';
import { A, English, Failure, Kubectl, Loading } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { selectableFields, type OpenAPI } from '../base/schema.js';
import { useRequest, useSignInFor } from '../base/use-request.js';

const asMetadata =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const pageSize = 500;

interface MetadataList {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: ObjectMeta }[];
}

/** Objects of a kind that have the deleted one as their owner. */
interface Owned {
  readonly kind: Kind;
  readonly count: number;
  /** There may be more than were counted. */
  readonly isMore: boolean;
}

/** Counts the objects of a kind that an object owns. The field of the owner is used if there is one. */
async function countOwned(
  document: OpenAPI,
  kind: Kind,
  { kind: owner }: Kind,
  { name, uid }: ObjectMeta,
): Promise<Owned> {
  const field = selectableFields(document, kind).find((path) =>
    path.toLowerCase().endsWith(`.${owner.toLowerCase()}`),
  );
  const query = new URLSearchParams({
    limit: String(pageSize),
    ...(field && { fieldSelector: `${field}=${name}` }),
  });
  const { items, metadata } = await call<MetadataList>(
    'GET',
    `${kind.path}?${query}`,
    undefined,
    asMetadata,
  );
  const owned = items.filter((item) =>
    item.metadata.ownerReferences?.some((reference) => reference.uid === uid),
  );
  const isMore = metadata.continue !== undefined && owned.length > 0;
  return { kind, count: owned.length, isMore };
}

/** Returns what a deletion takes along. What cannot be read is left out. */
async function readOwned(
  document: OpenAPI,
  listed: readonly Kind[],
  kind: Kind,
  metadata: ObjectMeta,
): Promise<readonly Owned[]> {
  const counted = await Promise.all(
    listed.map((owned) => countOwned(document, owned, kind, metadata).catch(() => undefined)),
  );
  return counted.filter((owned) => owned !== undefined && owned.count > 0) as Owned[];
}

function Along({ owned }: { owned: readonly Owned[] }) {
  if (owned.length === 0) return <p>{t('console.delete.alone')}</p>;
  return (
    <>
      <p>{t('console.delete.along')}</p>
      <ul>
        {owned.map(({ kind, count, isMore }) => (
          <li key={kind.resource}>
            <English>{pluralOf(kind)}</English>
            {': '}
            {t(isMore ? 'console.delete.many' : 'console.delete.count', { count })}
          </li>
        ))}
      </ul>
    </>
  );
}

function ConfirmDelete({
  kind,
  name,
  owned,
}: {
  kind: Kind;
  name: string;
  owned: readonly Owned[];
}) {
  const { busy, failure, run } = useRequest();
  const isMeant = useClickGuard(true);
  const remove = (): Promise<boolean> =>
    run(async () => {
      await deleteObject(kind, name);
      announce(t('console.deleted', { name }));
      navigate(pathTo(kind.resource), true);
    });
  return (
    <div class="confirm">
      <p>
        {format('console.delete.what', {
          kind: <English>{singularOf(kind)}</English>,
          name: (
            <bdi dir="ltr" class="strong">
              {name}
            </bdi>
          ),
        })}
      </p>
      <Along owned={owned} />
      {failure && <Failure failure={failure} isChange />}
      <div class="pair">
        <Button
          variant="danger"
          busy={busy}
          progress="console.deleting"
          onPress={() => {
            if (isMeant()) void remove();
          }}
        >
          {t('console.delete')}
        </Button>
        <A to={pathTo(kind.resource, name)} look="button">
          {t('console.cancel')}
        </A>
      </div>
    </div>
  );
}

/** The confirmation of a deletion, which says what is deleted with the object. */
export function DeleteView({ kind, name }: { kind: Kind; name: string }) {
  const { listed } = useConsole();
  const document = useDocument();
  const { value: owned, failure } = useRead(async () => {
    const { metadata } = await call<{ metadata: ObjectMeta }>('GET', objectPath(kind, name));
    return readOwned(document, listed, kind, metadata);
  }, []);
  useSignInFor(failure);
  return (
    <Frame title="console.delete.title" values={{ name }} kind={kind} parent={name}>
      {failure && <Failure failure={failure} />}
      {!owned && !failure && <Loading />}
      {owned && <ConfirmDelete kind={kind} name={name} owned={owned} />}
      <Kubectl command={deleteCommand(kind, name)} />
    </Frame>
  );
}
