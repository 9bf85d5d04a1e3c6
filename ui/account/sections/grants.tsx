import type { Grant } from '../../api.js';
import { nameOf } from '../../base/text/local-text.js';
import { useCollection } from '../../base/api/collection.js';
import { GrantRow } from './grant-row.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';
import { SectionList, Section } from '../base/section.js';

const byName = (grants: readonly Grant[]): Grant[] =>
  [...grants].sort((a, b) => nameOf(a.status.client).localeCompare(nameOf(b.status.client)));

/** The apps with access to the account. */
export function Grants() {
  const { account, isLive, names } = useAccountContext();
  const grants = useCollection<Grant>('grants', ownedBy(account), isLive);
  return (
    <Section id="grants" hint="grants.hint">
      <SectionList
        collection={names.isKnown ? grants : { ...grants, items: undefined }}
        list="grants.list"
        none="grants.none"
        look="things"
        order={byName}
        row={(grant) => <GrantRow key={grant.metadata.name} grant={grant} grants={grants} />}
      />
    </Section>
  );
}
