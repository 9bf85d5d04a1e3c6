import type { Policy } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { Ltr, t } from '../../base/text/message.js';
import type { Names } from '../../decisions/names.js';
import { historyOf } from '../../policy/history.js';
import { linesOf } from '../../policy/history.js';
import { rulesIn, type RuleText } from '../../policy/rules.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { A, Failure, Loading } from '../base/parts.js';
import { pathTo } from '../base/route.js';

/** A rule that names a group: its name, the apps that it names, and whether it permits. */
interface NamingRule {
  readonly name: string;
  readonly clients: readonly string[];
  readonly rule: RuleText;
}

/** Returns the rules of a text that name a group. */
export function rulesNaming(cedar: string, group: string): NamingRule[] {
  const lines = linesOf(cedar);
  return rulesIn(cedar).flatMap((rule) => {
    const text = lines.slice(rule.first - 1, rule.last).join('\n');
    if (!text.includes(`Group::${JSON.stringify(group)}`)) return [];
    const [, name = ''] = /@id\("([^"]+)"\)/.exec(text) ?? [];
    const clients = [...text.matchAll(/\bClient::"([^"]+)"/g)].map(([, client]) => client!);
    return [{ name, clients: [...new Set(clients)], rule }];
  });
}

const shownAtFirst = 8;

interface RowProps {
  policy: string;
  naming: NamingRule;
  names: Names;
}

const Rule = ({ policy, naming: { name, clients, rule }, names }: RowProps) => (
  <li>
    {clients.length > 0 ? (
      clients.map((client) => (
        <A key={client} to={pathTo('clients', client)}>
          <bdi>{names.client(client)}</bdi>{' '}
        </A>
      ))
    ) : (
      <bdi>{rule.comment || name}</bdi>
    )}
    <p class="hint">
      <a href={`/policy#${new URLSearchParams({ [policy]: '', rule: name })}`}>
        {t('groups.rule')} <Ltr of={name || `${rule.first}`} />
      </a>
    </p>
  </li>
);

interface Props {
  kind: Kind;
  group: string;
  names: Names;
}

function Opens({ kind, group, names }: Props) {
  const { items, failure, reload } = useCollection<Policy>(kind.path);
  const inForce = items && historyOf(items).inForce;
  if (failure) return <Failure failure={failure} retry={reload} />;
  if (!inForce) return <Loading />;
  const rules = rulesNaming(inForce.spec.cedar, group);
  const rows = rules.map((naming) => (
    <Rule key={naming.rule.first} policy={inForce.metadata.name} naming={naming} names={names} />
  ));
  if (rows.length === 0) return <p class="hint">{t('groups.opens.none')}</p>;
  return (
    <>
      <ul class="rows">{rows.slice(0, shownAtFirst)}</ul>
      {rows.length > shownAtFirst && (
        <details>
          <summary>{t('groups.opens.more', { count: rows.length - shownAtFirst })}</summary>
          <ul class="rows">{rows.slice(shownAtFirst)}</ul>
        </details>
      )}
    </>
  );
}

/** What the group opens: the rules of the policy in force that name it, and their apps. */
export function GroupOpens({ group, names }: { group: string; names: Names }) {
  const policies = kindOf(useConsole().listed, 'Policy');
  if (!policies) return null;
  return (
    <>
      <h2>{t('groups.opens')}</h2>
      <Opens kind={policies} group={group} names={names} />
    </>
  );
}
