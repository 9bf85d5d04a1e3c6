import type { ComponentChildren } from 'preact';
import { t } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import type { MessageID } from '../../messages/catalog.js';
import { useConsole } from './console-context.js';
import { pluralOf } from './discovery.js';
import type { Kind } from './kind.js';
import { A, English } from './parts.js';
import { pathTo, type Part } from './route.js';

function Navigation({ resource }: { resource: string | undefined }) {
  const { listed } = useConsole();
  return (
    <nav class="kinds" aria-label={t('console.kinds')}>
      <ul>
        {listed.map((kind) => (
          <li key={kind.resource}>
            <A to={pathTo(kind.resource)} current={kind.resource === resource}>
              <English>{pluralOf(kind)}</English>
            </A>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface Path {
  readonly kind: Kind | undefined;
  readonly name: string | undefined;
  /** The view is below this one. */
  readonly part: Part | undefined;
}

function Breadcrumb({ kind, name, part }: Path) {
  return (
    <nav class="path" aria-label={t('console.path')}>
      <ol>
        <li>
          <A to={pathTo()}>{t('console.title')}</A>
        </li>
        {part && (
          <li>
            <A to={pathTo(part)}>{t(`console.${part}`)}</A>
          </li>
        )}
        {kind && (
          <li>
            <A to={pathTo(kind.resource)}>
              <English>{pluralOf(kind)}</English>
            </A>
          </li>
        )}
        {kind && name !== undefined && (
          <li>
            <A to={pathTo(kind.resource, name)}>
              <bdi dir="ltr">{name}</bdi>
            </A>
          </li>
        )}
      </ol>
    </nav>
  );
}

interface Props {
  title: MessageID;
  values?: Record<string, string>;
  heading?: ComponentChildren;
  kind?: Kind | undefined;
  /** The task that the view belongs to. */
  part?: Part;
  /** The object that the view is about, unless the view is the object itself. */
  parent?: string | undefined;
  /** Beside the heading. */
  actions?: ComponentChildren;
  error?: boolean;
  children: ComponentChildren;
}

/** A view of the console between its navigation and the way back. */
export function Frame({
  title,
  values,
  heading,
  kind,
  part,
  parent,
  actions,
  error,
  children,
}: Props) {
  return (
    <div class={kind ? 'console' : 'console start'}>
      <Navigation resource={kind?.resource} />
      <div class="content">
        <View
          title={title}
          values={values ?? {}}
          heading={heading}
          phase="console"
          error={error ?? false}
          header={
            (kind || part || error) && (
              <Breadcrumb
                kind={title === 'console.list.title' ? undefined : kind}
                name={parent}
                part={title === `console.${part}` ? undefined : part}
              />
            )
          }
        >
          {actions && <div class="tools">{actions}</div>}
          {children}
        </View>
      </div>
    </div>
  );
}
