import type { ComponentChildren } from 'preact';
import type { Account, ObjectMeta, Passkey, Session } from '../../api.js';
import { useCollection } from '../../base/api/collection.js';
import { format, t } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { Act } from '../base/act.js';
import { useIsAllowed } from '../base/discovery.js';
import type { Kind } from '../base/kind.js';
import { deleteCommand, deleteObject } from '../base/kubectl.js';
import { A, Failure, Loading, Part } from '../base/parts.js';
import { pathTo } from '../base/route.js';

interface Props {
  readonly kind: Kind;
  readonly account: Account;
}

interface RowProps {
  readonly kind: Kind;
  readonly metadata: ObjectMeta;
  readonly title: string;
  readonly label: string;
  readonly question: string;
  readonly done: string;
  readonly children: ComponentChildren;
}

/** An object of the person that may be deleted. */
function OwnedRow({ kind, metadata, title, label, question, done, children }: RowProps) {
  const mayDelete = useIsAllowed(kind, 'delete', metadata.name);
  return (
    <li>
      <A to={pathTo(kind.resource, metadata.name)}>
        <bdi>{title}</bdi>
      </A>
      <p class="hint">{children}</p>
      {mayDelete && (
        <Act
          label={label}
          command={deleteCommand(kind, metadata.name)}
          isDanger
          work={() => deleteObject(kind, metadata.name)}
          done={done}
        >
          {question}
        </Act>
      )}
    </li>
  );
}

/** Returns the browser and system of a session, as far as they are known. */
function deviceOf({ status: { client } }: Session): string {
  const known = [client.browser, client.os].filter((word) => word !== 'Other');
  return known.join(' · ') || t('console.people.device');
}

interface OwnedProps<T> extends Props {
  readonly id: string;
  readonly title: string;
  readonly none: string;
  readonly row: (object: T) => ComponentChildren;
}

/** The objects of one kind that the person owns, except those that are being deleted. */
function Owned<T extends { readonly metadata: ObjectMeta }>(props: OwnedProps<T>) {
  const { kind, account, id, title, none, row } = props;
  const { items, failure, reload } = useCollection<T>(kind.path, {
    fieldSelector: `status.account=${account.metadata.name}`,
  });
  const owned = items?.filter(({ metadata }) => !metadata.deletionTimestamp);
  return (
    <Part id={id} title={title}>
      {failure && <Failure failure={failure} retry={reload} />}
      {!items && !failure && <Loading />}
      {owned?.length === 0 && <p>{none}</p>}
      <ul class="rows">{owned?.map(row)}</ul>
    </Part>
  );
}

/** The devices on which the person is signed in. */
export const Sessions = ({ kind, account }: Props) => (
  <Owned<Session>
    kind={kind}
    account={account}
    id="devices"
    title={t('console.people.devices')}
    none={t('console.people.devices.none')}
    row={(session) => (
      <OwnedRow
        key={session.metadata.name}
        kind={kind}
        metadata={session.metadata}
        title={deviceOf(session)}
        label={t('console.people.signout', { device: deviceOf(session) })}
        question={t('console.people.signout.what')}
        done={t('console.people.signout.done')}
      >
        {format('console.people.used', {
          when: <Timestamp of={session.status.lastUsedTimestamp} />,
        })}
      </OwnedRow>
    )}
  />
);

/** The passkeys of the person. */
export const Passkeys = ({ kind, account }: Props) => (
  <Owned<Passkey>
    kind={kind}
    account={account}
    id="passkeys"
    title={t('console.people.passkeys')}
    none={t('console.people.passkeys.none')}
    row={({ metadata, spec, status }) => (
      <OwnedRow
        key={metadata.name}
        kind={kind}
        metadata={metadata}
        title={spec.displayName}
        label={t('console.people.passkey.delete', { name: spec.displayName })}
        question={t('console.people.passkey.what')}
        done={t('console.people.passkey.done')}
      >
        {status.lastUsedTimestamp
          ? format('console.people.used', {
              when: <Timestamp of={status.lastUsedTimestamp} />,
            })
          : t('console.people.unused')}
      </OwnedRow>
    )}
  />
);
