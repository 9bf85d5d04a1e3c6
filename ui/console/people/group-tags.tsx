import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { membershipOf, type Group } from '../../base/group.js';
import type { Kind } from '../base/kind.js';

interface GroupList {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly Group[];
}

/** The groups that are read at once; where there are more, a list of people shows none. */
const maxGroups = 200;

/** Reads all groups by one request; undefined until then, without permission, and of too many. */
export function useGroups(kind: Kind | undefined) {
  const { value, reload } = useRead(
    kind && (() => call<GroupList>('GET', `${kind.path}?limit=${maxGroups}`)),
    [kind?.path],
  );
  return { groups: value?.metadata.continue ? undefined : value?.items, reload };
}

/** Returns the names of the groups that have an address. */
export const namesOfGroups = (groups: readonly Group[], address: string): string[] =>
  groups
    .filter((group) => membershipOf(group, address))
    .map(({ spec, metadata }) => spec.displayName || metadata.name);

const shownAtFirst = 2;

/** The first groups as tags, and how many more there are. */
export const GroupTags = ({ names }: { names: readonly string[] }) => (
  <span class="tags" title={names.join(', ') || undefined}>
    {names.slice(0, shownAtFirst).map((name) => (
      <bdi class="tag" key={name}>
        {name}
      </bdi>
    ))}
    {names.length > shownAtFirst && <span class="soft">+{names.length - shownAtFirst}</span>}
  </span>
);
