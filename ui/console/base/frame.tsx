import type { ComponentChildren } from 'preact';
import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import { View } from '../../base/view.js';
import type { MessageID } from '../../messages/catalog.js';
import { pluralOf } from './discovery.js';
import type { Kind } from './kind.js';
import { A, English } from './parts.js';
import { places } from './rail.js';
import { pathTo, type Part } from './route.js';

interface Parent {
  readonly to: string;
  readonly words: ComponentChildren;
}

/** Returns the place where a kind is listed: one that is made for a task, or the list of the kind. */
function listOf(kind: Kind): Parent {
  const place = places.flat().find((candidate) => candidate.kind === kind.kind);
  if (place) return { to: pathTo(place.resources[0]!), words: t(place.title) };
  return { to: pathTo(kind.resource), words: <English>{pluralOf(kind)}</English> };
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
  /** At the end of the line of the heading. */
  actions?: ComponentChildren;
  error?: boolean;
  children: ComponentChildren;
}

/** Returns what is above a view: the object that it is about, the list of its kind, or the task. */
function parentOf({ title, kind, part, parent }: Props): Parent | undefined {
  if (kind && parent !== undefined) {
    return { to: pathTo(kind.resource, parent), words: <bdi dir="ltr">{parent}</bdi> };
  }
  if (kind && title === 'console.list.title') {
    const isPlace = places.flat().some(({ resources }) => resources[0] === kind.resource);
    return isPlace ? undefined : { to: pathTo('kinds'), words: t('console.kinds') };
  }
  if (kind) return listOf(kind);
  if (part && title !== `console.${part}`) return { to: pathTo(part), words: t(`console.${part}`) };
  return undefined;
}

/** A view of the console: the way back, its heading with what can be done, and its content. */
export function Frame(props: Props) {
  const { title, values, heading, actions, error, children } = props;
  const parent = parentOf(props);
  return (
    <View
      title={title}
      values={values ?? {}}
      heading={heading}
      phase="console"
      error={error ?? false}
      header={
        parent && (
          <p class="back">
            <A to={parent.to}>
              <Icon of="chevron-left" />
              {parent.words}
            </A>
          </p>
        )
      }
    >
      {actions && <div class="tools">{actions}</div>}
      {children}
    </View>
  );
}
