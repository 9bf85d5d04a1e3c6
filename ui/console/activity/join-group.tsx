import { useState } from 'preact/hooks';
import type { ObjectMeta, PolicyDecision } from '../../api.js';
import { call } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { t } from '../../base/text/message.js';
import { Act } from '../base/act.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { objectPath, patchCommand } from '../base/kubectl.js';
import { addressOf } from './decision-names.js';

interface Group {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly displayName: string; readonly members?: readonly string[] };
}

interface Props {
  account: string;
  /** The name of the group. */
  name: string;
}

function Join({ kind, account, name }: Props & { kind: Kind }) {
  const mayPatch = useIsAllowed(kind, 'patch', name);
  const [isDone, setDone] = useState(false);
  const { value } = useRead(
    () => Promise.all([addressOf(account), call<Group>('GET', objectPath(kind, name))]),
    [account, name],
  );
  const [person, group] = value ?? [];
  if (!mayPatch || !person || !group) return null;
  const { displayName, members = [] } = group.spec;
  const words = { person, group: displayName };
  const isMember = members.some((member) => member.toLowerCase() === person.toLowerCase());
  if (isDone || isMember) return <p class="state ok">{t('activity.joined', words)}</p>;
  const patch = {
    metadata: { resourceVersion: group.metadata.resourceVersion },
    spec: { members: [...members, person] },
  };
  return (
    <Act
      label={t('activity.join', words)}
      command={patchCommand(kind, name, patch)}
      work={async () => {
        await call('PATCH', objectPath(kind, name), patch);
        setDone(true);
      }}
      done={t('activity.joined', words)}
    >
      {t('activity.join.what', words)}
    </Act>
  );
}

/** Adds the person of a decision to a group that an alternative names, if the caller may. */
export function JoinGroup(props: Props) {
  const kind = kindOf(useConsole().listed, 'Group');
  return kind ? <Join kind={kind} {...props} /> : null;
}

/** Returns the groups whose membership is part of an alternative to a refusal. */
export const groupsOf = ({ status }: PolicyDecision, i: number): readonly string[] =>
  (status.alternatives?.[i]?.changes ?? []).flatMap(({ fact, value }) =>
    fact === 'Group' && value !== undefined ? [value] : [],
  );
