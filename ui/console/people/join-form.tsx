import { useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { membershipOf, type Group } from '../../base/group.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import type { Kind } from '../base/kind.js';
import { patchCommand } from '../base/kubectl.js';
import { Failure, Kubectl } from '../base/parts.js';
import { useRequest } from '../base/use-request.js';
import { patchGroup, withMembers } from './group-members.js';

/** Who is to join one of which groups. */
export interface JoinProps {
  kind: Kind;
  groups: readonly Group[];
  addresses: readonly string[];
  /** Called after they were added. */
  onDone?: () => void;
  /** Called then, and when the form is given up. */
  onEnd?: () => void;
}

/** The choice of a Group that people are to join, by one request. */
export function JoinForm({ kind, groups, addresses, onDone, onEnd }: JoinProps) {
  const [name, setName] = useState('');
  const { busy, failure, run } = useRequest();
  const group = groups.find(({ metadata }) => metadata.name === name);
  const added = addresses.filter((address) => group && !membershipOf(group, address));
  const patch = group && withMembers(group, added);
  const count = added.length;
  const join = (): Promise<boolean> =>
    run(async () => {
      if (!group || !patch || count === 0) return;
      await patchGroup(kind, group, patch);
      setName('');
      announce(t('people.joined', { count, group: group.spec.displayName }));
      onDone?.();
      onEnd?.();
    });
  return (
    <Form look="search" onSubmit={() => void join()}>
      <Field
        id="group"
        label={t('console.people.join')}
        choices={[
          ['', t('console.people.choose')],
          ...groups.map(({ metadata, spec }) => [metadata.name, spec.displayName] as const),
        ]}
        value={name}
        onText={setName}
      />
      <Button submit busy={busy} disabled={count === 0}>
        {count > 0 ? t('people.join.count', { count }) : t('console.people.join')}
      </Button>
      {onEnd && <Button onPress={onEnd}>{t('console.cancel')}</Button>}
      {failure && <Failure failure={failure} isChange />}
      {patch && count > 0 && <Kubectl command={patchCommand(kind, name, patch)} />}
    </Form>
  );
}
