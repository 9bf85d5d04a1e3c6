import { call } from '../../base/api/api.js';
import type { IconName } from '../../base/frame/icon.js';
import { locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import type { ConsoleContext } from '../base/console-context.js';
import { isReference } from '../activity/activity-search.js';
import { kindOf, pluralOf, singularOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { places } from '../base/rail.js';
import { pathTo } from '../base/route.js';

/** What the command bar offers: a place, an act or an object, and where it leads. */
export interface Entry {
  readonly group: 'people' | 'apps' | 'groups' | 'acts' | 'places';
  readonly icon: IconName;
  readonly words: string;
  /** What else it is found by, shown beside it. */
  readonly detail?: string;
  readonly to: string;
}

interface Named {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly displayName?: string };
  readonly status?: { readonly email?: { readonly address: string } };
}

const maxObjects = 500;
const maxFound = 6;

const listOf = async (kind: Kind | undefined, query: Record<string, string>): Promise<Named[]> => {
  if (!kind) return [];
  const found = await call<{ items: Named[] }>('GET', `${kind.path}?${new URLSearchParams(query)}`);
  return found.items;
};

/** Returns the places and acts of the console, as far as the caller sees the kinds that they are about. */
export function fixedEntries({ listed, kinds }: ConsoleContext): Entry[] {
  const place = (title: MessageID, icon: IconName, to: string): Entry => ({
    group: 'places',
    icon,
    words: t(title),
    to,
  });
  const known = places.flat().filter(({ kind }) => kindOf(listed, kind));
  const acts: readonly (readonly [kind: string, title: MessageID, icon: IconName, to: string])[] = [
    ['Invitation', 'console.people.invite', 'user-plus', pathTo('invitations', '-', 'new')],
    ['Account', 'console.people.import', 'upload', pathTo('people', '-', 'new')],
    ['Client', 'console.apps.add', 'plus', pathTo('apps', '-', 'new')],
  ];
  return [
    ...acts
      .filter(([kind]) => kindOf(listed, kind)?.verbs.includes('create'))
      .map(([, title, icon, to]) => ({ ...place(title, icon, to), group: 'acts' as const })),
    ...listed
      .filter(({ kind, verbs }) => verbs.includes('create') && !acts.some(([of]) => of === kind))
      .map((kind) => ({
        group: 'acts' as const,
        icon: 'plus' as const,
        words: t('console.new', { kind: singularOf(kind) }),
        to: pathTo(kind.resource, '-', 'new'),
      })),
    place('console.overview', 'layout-dashboard', pathTo()),
    ...known.map(({ title, icon, resources }) => place(title, icon, pathTo(resources[0]!))),
    place('console.kinds', 'database', pathTo('kinds')),
    ...kinds
      .filter((kind) => listed.includes(kind) && !known.some((one) => one.kind === kind.kind))
      .map((kind) => ({
        ...place('console.kinds', 'database', pathTo(kind.resource)),
        words: pluralOf(kind),
      })),
  ];
}

/** Reads the apps and groups, which are few; those that cannot be read are left out. */
export async function readNamed({ listed }: ConsoleContext): Promise<Entry[]> {
  const query = { limit: String(maxObjects) };
  const [apps, groups] = await Promise.all(
    ['Client', 'Group'].map((kind) => listOf(kindOf(listed, kind), query).catch(() => [])),
  );
  const entry =
    (group: 'apps' | 'groups', icon: IconName, resource: string) =>
    ({ metadata: { name }, spec }: Named): Entry => ({
      group,
      icon,
      words: spec.displayName ?? name,
      ...(spec.displayName && { detail: name }),
      to: pathTo(resource, name),
    });
  return [
    ...apps!.map(entry('apps', 'app-window', 'clients')),
    ...groups!.map(entry('groups', 'layers', 'groups')),
  ];
}

/** Finds people by the beginning of any word of their name or address. */
export async function findPeople({ listed }: ConsoleContext, words: string): Promise<Entry[]> {
  const searches = words.split(/[\s,=!]+/).filter(Boolean);
  if (searches.length === 0) return [];
  const fieldSelector = searches.map((word) => `search=${word}`).join();
  const found = await listOf(kindOf(listed, 'Account'), { fieldSelector, limit: String(maxFound) });
  return found.map(({ metadata: { name }, spec, status }) => {
    const address = status?.email?.address ?? name;
    return {
      group: 'people',
      icon: 'users',
      words: spec.displayName ?? address,
      ...(spec.displayName && { detail: address }),
      to: pathTo('people', name),
    };
  });
}

/** Returns where a Reference of an error page leads: to the decision about its request. */
export function findReference({ listed }: ConsoleContext, words: string): Entry[] {
  if (!isReference(words) || !kindOf(listed, 'PolicyDecision')) return [];
  const to = `${pathTo('decisions')}?${new URLSearchParams({ find: words })}`;
  return [{ group: 'places', icon: 'search', words: t('command.reference'), detail: words, to }];
}

/** Returns the entries in which every typed word begins a word, the first few of each group. */
export function matching(entries: readonly Entry[], words: string): Entry[] {
  const plain = (text: string): string =>
    text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase(locale());
  const typed = plain(words).split(/\s+/).filter(Boolean);
  const counts = new Map<string, number>();
  return entries.filter(({ group, words: own, detail = '' }) => {
    const parts = plain(`${own} ${detail}`).split(/[\s.@_-]+/);
    const isFound = typed.every((word) => parts.some((part) => part.startsWith(word)));
    const count = counts.get(group) ?? 0;
    if (isFound) counts.set(group, count + 1);
    return isFound && count < maxFound;
  });
}
