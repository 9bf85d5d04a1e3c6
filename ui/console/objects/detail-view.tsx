import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ObjectMeta } from '../../api.js';
import { t } from '../../base/text/message.js';
import { Status } from '../../base/status.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { accessChunk } from '../access/access-chunk.js';
import { Chunk } from '../base/chunk.js';
import { Conditions, type Condition } from './conditions.js';
import { useConsole, useDocument } from '../base/console-context.js';
import { singularOf, useIsAllowed } from '../base/discovery.js';
import type { AnyObject, Kind } from '../base/kind.js';
import { Frame } from '../base/frame.js';
import { getCommand } from '../base/kubectl.js';
import { isObject, type JsonObject } from '../base/merge.js';
import { A, Code, English, Failure, Kubectl, Loading, Part } from '../base/parts.js';
import { reportChunk } from '../apps/report-chunk.js';
import { navigate, pathTo } from '../base/route.js';
import { objectSchema, propertyOf } from '../base/schema.js';
import { useObject } from '../base/use-object.js';
import { Fields } from './value.js';
import { toYaml } from '../base/yaml.js';

function Owners({ owners }: { owners: NonNullable<ObjectMeta['ownerReferences']> }) {
  const { kinds } = useConsole();
  return (
    <ul class="plain-list">
      {owners.map(({ apiVersion, kind, name, uid }) => {
        const known = kinds.find(
          (candidate) => candidate.kind === kind && candidate.apiVersion === apiVersion,
        );
        const text = (
          <>
            <English>{singularOf({ kind })}</English> <bdi dir="ltr">{name}</bdi>
          </>
        );
        return <li key={uid}>{known ? <A to={pathTo(known.resource, name)}>{text}</A> : text}</li>;
      })}
    </ul>
  );
}

function Pairs({ pairs }: { pairs: Readonly<Record<string, string>> }) {
  return (
    <ul class="plain-list">
      {Object.entries(pairs).map(([name, value]) => (
        <li key={name}>
          <bdi dir="ltr">{`${name}=${value}`}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Metadata({ metadata }: { metadata: ObjectMeta }) {
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    [t('console.createdAt'), <Timestamp of={metadata.creationTimestamp} />],
    [t('console.owners'), metadata.ownerReferences && <Owners owners={metadata.ownerReferences} />],
    [t('console.labels'), metadata.labels && <Pairs pairs={metadata.labels} />],
    [t('console.annotations'), metadata.annotations && <Pairs pairs={metadata.annotations} />],
  ];
  return (
    <dl class="values about">
      {rows
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

const conditionsOf = (status: JsonObject | undefined): readonly Condition[] => {
  const conditions = status?.conditions;
  return Array.isArray(conditions) && conditions.every(isObject)
    ? (conditions as unknown as Condition[])
    : [];
};

function ObjectFields({ kind, object }: { kind: Kind; object: AnyObject }) {
  const document = useDocument();
  const schema = objectSchema(document, kind);
  const { conditions: _, ...status } = object.status ?? {};
  const conditions = conditionsOf(object.status);
  return (
    <>
      <Metadata metadata={object.metadata} />
      {conditions.length > 0 && (
        <Part id="conditions" title={t('console.conditions')}>
          <Conditions conditions={conditions} />
        </Part>
      )}
      {object.spec && Object.keys(object.spec).length > 0 && (
        <Part id="spec" title={t('console.spec')}>
          <Fields schema={propertyOf(document, schema, 'spec')} value={object.spec} />
        </Part>
      )}
      {Object.keys(status).length > 0 && (
        <Part id="status" title={t('console.status')}>
          <Fields schema={propertyOf(document, schema, 'status')} value={status} />
        </Part>
      )}
    </>
  );
}

const tabs = ['fields', 'yaml', 'decisions'] as const;

/** Returns an object without the owners of its fields, as kubectl prints it. */
function withoutManagedFields(object: AnyObject): AnyObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
type Tab = (typeof tabs)[number];

function Tabs({ path, tab, all }: { path: string; tab: Tab; all: readonly Tab[] }) {
  return (
    <nav class="sections" aria-label={t('console.views')}>
      <ul>
        {all.map((view) => (
          <li key={view}>
            <A to={view === 'fields' ? path : `${path}?view=${view}`} current={view === tab}>
              {t(`console.view.${view}`)}
            </A>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Actions({ kind, name }: { kind: Kind; name: string }) {
  const mayPatch = useIsAllowed(kind, 'patch', name);
  const mayDelete = useIsAllowed(kind, 'delete', name);
  return (
    <>
      {mayPatch && (
        <A to={pathTo(kind.resource, name, 'edit')} look="button small">
          {t('console.edit.link')}
        </A>
      )}
      {mayDelete && (
        <A to={pathTo(kind.resource, name, 'delete')} look="button small danger">
          {t('console.delete.link')}
        </A>
      )}
    </>
  );
}

/** Leads to the decisions about a person, or about an object. */
function Decisions({ kind, name }: { kind: string; name: string }) {
  const query = new URLSearchParams({ result: 'any' });
  if (kind === 'Account') query.set('person', name);
  else query.set('object', `${kind}/${name}`);
  useEffect(() => navigate(`${pathTo('decisions')}?${query}`, true), []);
  return <Loading />;
}

/** An object: its fields, its YAML and the decisions about it. It follows changes. */
export function DetailView({
  kind,
  name,
  query,
}: {
  kind: Kind;
  name: string;
  query: URLSearchParams;
}) {
  const { listed } = useConsole();
  const { items, failure, reload, object } = useObject<AnyObject>(kind, name);
  const decisions = listed.find(({ resource }) => resource === 'policydecisions');
  const all = tabs.filter((tab) => tab !== 'decisions' || (decisions && decisions !== kind));
  const tab = all.find((candidate) => candidate === query.get('view')) ?? 'fields';
  return (
    <Frame
      title="console.object.title"
      values={{ name, kind: singularOf(kind) }}
      heading={<bdi dir="ltr">{name}</bdi>}
      kind={kind}
      actions={object && <Actions kind={kind} name={name} />}
    >
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {items && !object && <Status look="notice warn">{t('console.gone')}</Status>}
      {object && (
        <>
          {kind.kind === 'AccessRequest' && (
            <Chunk
              of={accessChunk}
              show={({ AccessDecision }) => <AccessDecision kind={kind} object={object} />}
            />
          )}
          <Tabs path={pathTo(kind.resource, name)} tab={tab} all={all} />
          {tab === 'fields' && kind.kind === 'Client' && (
            <Chunk
              of={reportChunk}
              show={({ AppAccess, ClientReport }) => (
                <>
                  <AppAccess client={object} />
                  <ClientReport kind={kind} name={name} />
                </>
              )}
            />
          )}
          {tab === 'fields' && <ObjectFields kind={kind} object={object} />}
          {tab === 'yaml' && (
            <Code text={toYaml(withoutManagedFields(object))} label={t('console.view.yaml')} />
          )}
          {tab === 'decisions' && <Decisions kind={kind.kind} name={name} />}
        </>
      )}
      <Kubectl command={getCommand(kind, name)} />
    </Frame>
  );
}
