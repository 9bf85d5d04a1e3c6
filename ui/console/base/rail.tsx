import type { IconName } from '../../base/frame/icon.js';
import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { useConsole } from './console-context.js';
import { kindOf, useIsAllowed } from './discovery.js';
import type { Kind } from './kind.js';
import { A } from './parts.js';
import { pathTo, useRoute } from './route.js';

/** A place of the console: where it is, and the kind that one must be able to list to see it. */
export interface Place {
  readonly title: MessageID;
  readonly icon: IconName;
  readonly kind: string;
  /** The first parts of addresses below it; the first of them is its own. */
  readonly resources: readonly string[];
}

/** The places that are made for a task, in the order of the rail; a gap is between two lists. */
export const places: readonly (readonly Place[])[] = [
  [
    {
      title: 'console.people',
      icon: 'users',
      kind: 'Account',
      resources: ['people', 'accounts', 'invitations'],
    },
    { title: 'console.groups', icon: 'layers', kind: 'Group', resources: ['groups'] },
  ],
  [
    { title: 'console.apps', icon: 'app-window', kind: 'Client', resources: ['apps', 'clients'] },
    { title: 'console.apis', icon: 'braces', kind: 'Audience', resources: ['audiences'] },
    {
      title: 'console.access',
      icon: 'inbox',
      kind: 'AccessRequest',
      resources: ['accessrequests'],
    },
  ],
  [
    { title: 'console.policy', icon: 'scale', kind: 'Policy', resources: ['policy', 'policies'] },
    {
      title: 'console.decisions',
      icon: 'list-checks',
      kind: 'PolicyDecision',
      resources: ['decisions', 'policydecisions'],
    },
    {
      title: 'console.activity',
      icon: 'activity',
      kind: 'PolicyDecision',
      resources: ['activity'],
    },
  ],
  [
    { title: 'console.mail', icon: 'mail', kind: 'HourlyCount', resources: ['mail'] },
    {
      title: 'console.settings',
      icon: 'sliders-horizontal',
      kind: 'Settings',
      resources: ['settings'],
    },
  ],
];

interface ItemProps {
  title: MessageID;
  icon: IconName;
  to: string;
  current: boolean;
}

const Item = ({ title, icon, to, current }: ItemProps) => (
  <li>
    <A to={to} current={current}>
      <Icon of={icon} />
      {t(title)}
    </A>
  </li>
);

/** Anyone may read the Appearance, so the form of it is offered only to who may change it. */
function AppearanceItem({ kind, current }: { kind: Kind; current: boolean }) {
  const isAllowed = useIsAllowed(kind, 'patch');
  if (!isAllowed) return null;
  const to = pathTo('appearance');
  return <Item title="console.appearance" icon="palette" to={to} current={current} />;
}

/** The places that the caller may see; the one that is shown is marked. */
export function Rail() {
  const { listed } = useConsole();
  const { view, resource } = useRoute();
  const appearances = kindOf(listed, 'Appearance');
  const isAppearance = ['appearance', appearances?.resource].includes(resource);
  const isTask = places.some((some) => some.some(({ resources }) => resources.includes(resource)));
  return (
    <>
      <ul>
        <Item
          title="console.overview"
          icon="layout-dashboard"
          to={pathTo()}
          current={view === 'overview'}
        />
      </ul>
      {places.map((some, i) => (
        <ul key={i}>
          {some
            .filter(({ kind }) => kindOf(listed, kind))
            .map(({ title, icon, resources }) => (
              <Item
                key={title}
                title={title}
                icon={icon}
                to={pathTo(resources[0]!)}
                current={resources.includes(resource)}
              />
            ))}
          {i === places.length - 1 && appearances && (
            <AppearanceItem kind={appearances} current={isAppearance} />
          )}
        </ul>
      ))}
      <ul class="last">
        <Item
          title="console.kinds"
          icon="database"
          to={pathTo('kinds')}
          current={view !== 'overview' && !isTask && !isAppearance}
        />
      </ul>
    </>
  );
}
