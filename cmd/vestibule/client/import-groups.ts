import type { PersonRow } from '../../../csv/people-file.js';
import { version } from '../../../kinds/api-version.js';
import { ApiStatusError } from '../terminal/errors.js';
import { type ApiClient, type ApiObject, retryOn } from './connection/api-client.js';

/** How often a Group that others change at the same time is read and changed again. */
const maxTries = 10;

/** A Group that rows name. */
interface ImportGroup {
  /** The places that are left, or undefined if there is no such Group. */
  free: number | undefined;
  readonly members: ReadonlySet<string>;
  readonly added: Set<string>;
}

const membersOf = ({ spec }: ApiObject): string[] => (spec?.members ?? []) as string[];
const setOf = (members: readonly string[]): Set<string> =>
  new Set(members.map((member) => member.toLowerCase()));

/** The Groups of an import: which exist, and who joins each. */
export class ImportGroups {
  readonly #service: ApiClient;
  readonly #groups = new Map<string, ImportGroup>();

  constructor(service: ApiClient) {
    this.#service = service;
  }

  /** Reads each Group that a row names; `maxMembers` is the most that a Group can have. */
  async read(rows: readonly PersonRow[], maxMembers: number): Promise<void> {
    for (const name of new Set(rows.flatMap(({ groups }) => groups))) {
      const members = await this.#membersOf(name);
      this.#groups.set(name, {
        free: members && maxMembers - members.size,
        members: members ?? new Set(),
        added: new Set(),
      });
    }
  }

  async #membersOf(name: string): Promise<Set<string> | undefined> {
    try {
      return setOf(membersOf(await this.#service.requestAPI('GET', pathOf(name))));
    } catch (error) {
      if (error instanceof ApiStatusError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Returns why a row cannot join its Groups, or undefined and keeps a place in each. */
  keepPlaces({ email, groups }: PersonRow): string | undefined {
    const wanted = groups
      .map((name) => ({ name, group: this.#groups.get(name)! }))
      .filter(({ group }) => !group.members.has(email.toLowerCase()));
    const missing = wanted.find(({ group }) => group.free === undefined);
    if (missing) return `no such Group: ${missing.name}`;
    const full = wanted.find(({ group }) => group.free! <= group.added.size);
    if (full) return `Group ${full.name} is full`;
    for (const { group } of wanted) group.added.add(email.toLowerCase());
    return undefined;
  }

  /** Takes back the places of a row whose account was refused. */
  giveBack({ email, groups }: PersonRow): void {
    for (const name of groups) this.#groups.get(name)!.added.delete(email.toLowerCase());
  }

  /** Adds the members, with one change a Group. Returns how many memberships are new. */
  async commit(query: string): Promise<number> {
    let count = 0;
    for (const [name, { added }] of this.#groups) {
      if (added.size > 0) {
        await this.#add(name, added, query);
        count += added.size;
      }
    }
    return count;
  }

  /** Adds members to a Group; reads and changes it again if others changed it in between. */
  #add(name: string, added: ReadonlySet<string>, query: string): Promise<ApiObject> {
    return retryOn([409], { maxTries, waitMs: 20 }, async () => {
      const { metadata, spec } = await this.#service.requestAPI('GET', pathOf(name));
      const members: string[] = spec?.members ?? [];
      const known = setOf(members);
      return this.#service.request('PATCH', `/api/${version}/${pathOf(name)}${query}`, {
        body: {
          metadata: { resourceVersion: metadata.resourceVersion },
          spec: { members: [...members, ...[...added].filter((member) => !known.has(member))] },
        },
        type: 'application/merge-patch+json',
      });
    });
  }
}

const pathOf = (name: string): string => `groups/${encodeURIComponent(name)}`;
