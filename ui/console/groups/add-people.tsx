import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import type { Group } from '../../base/group.js';
import { announce } from '../../base/live-region.js';
import { Status } from '../../base/status.js';
import { t, Ltr } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import type { Kind } from '../base/kind.js';
import { patchCommand } from '../base/kubectl.js';
import { Failure, Kubectl } from '../base/parts.js';
import { useRequest } from '../base/use-request.js';
import { patchGroup, withMembers, type Limit } from '../people/group-members.js';
import { piecesOf, readEntries, type Entry } from './pasted.js';

/** Returns a text some time after it was last changed. */
function useSettled(text: string): string {
  const [settled, set] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => set(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface MissingProps {
  entry: Entry;
  replace: (entry: Entry, address: string) => void;
}

/** A name or address that no one has, and whom it may mean. */
const Missing = ({ entry: { text, address, people }, entry, replace }: MissingProps) => (
  <li>
    <bdi>{text}</bdi>
    <p class="hint">{t(address ? 'groups.noaccount' : 'groups.notaddress')}</p>
    {people.map(({ metadata, spec, status }) => (
      <p key={metadata.name}>
        <Button variant="small" onPress={() => replace(entry, status.email.address)}>
          {t('groups.take', { name: spec.displayName ?? status.email.address })}
        </Button>{' '}
        {spec.displayName && (
          <span class="hint">
            <Ltr of={status.email.address} />
          </span>
        )}
      </p>
    ))}
  </li>
);

/** The last second of a day, as the browser has days. */
const endOf = (day: string): string => `${new Date(`${day}T23:59:59`).toISOString().slice(0, 19)}Z`;

interface LimitFieldsProps {
  day: string;
  reason: string;
  setDay: (day: string) => void;
  setReason: (reason: string) => void;
}

/** Until when they are members; a reason is stored with an end alone. */
const LimitFields = ({ day, reason, setDay, setReason }: LimitFieldsProps) => (
  <div class="search">
    <Field id="until" type="date" label={t('groups.until.field')} value={day} onText={setDay} />
    {day && (
      <Field
        id="reason"
        label={t('groups.reason')}
        maxLength={200}
        value={reason}
        onText={setReason}
      />
    )}
  </div>
);

const isMissing = ({ state }: Entry): boolean => state === 'absent';

interface Props {
  kind: Kind;
  accounts: Kind;
  group: Group;
}

/** The pasted text, and what was found for it. */
function usePasted({ accounts, group }: Props) {
  const [text, setText] = useState('');
  const settled = useSettled(text);
  const { value, failure, reload } = useRead(
    () => readEntries(accounts, group, piecesOf(settled)),
    [settled, group.metadata.resourceVersion],
  );
  return { text, setText, entries: settled === text ? (value ?? []) : [], failure, reload };
}

interface TextProps {
  text: string;
  setText: (text: string) => void;
}

const PastedText = ({ text, setText }: TextProps) => (
  <div class="field">
    <label for="pasted">{t('groups.add')}</label>
    <textarea
      id="pasted"
      rows={6}
      dir="auto"
      spellcheck={false}
      aria-describedby="pasted-hint"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
    <p class="hint" id="pasted-hint">
      {t('groups.add.hint')}
    </p>
  </div>
);

interface FoundProps extends TextProps {
  entries: readonly Entry[];
  withMissing: boolean;
  setWithMissing: (isSet: boolean) => void;
}

/** How many were found, and each that was not, with what would mend it. */
function Found({ entries, text, setText, withMissing, setWithMissing }: FoundProps) {
  const count = (state: Entry['state']): number =>
    entries.filter((entry) => entry.state === state).length;
  const missing = entries.filter(isMissing);
  if (entries.length === 0) return null;
  return (
    <>
      <Status>{t('groups.found', { found: count('found'), member: count('member') })}</Status>
      <ul class="rows">
        {missing.map((entry) => (
          <Missing
            key={entry.text}
            entry={entry}
            replace={(one, address) => setText(text.replace(one.text, address))}
          />
        ))}
      </ul>
      {missing.some(({ address }) => address) && (
        <label class="choice-line">
          <input
            type="checkbox"
            checked={withMissing}
            onChange={({ currentTarget }) => setWithMissing(currentTarget.checked)}
          />
          {t('groups.withmissing')}
        </label>
      )}
    </>
  );
}

/** Adds those whose names or addresses are pasted; what was not found stays in the field. */
export function AddPeople(props: Props) {
  const { kind, group } = props;
  const { text, setText, entries, ...read } = usePasted(props);
  const [withMissing, setWithMissing] = useState(false);
  const [day, setDay] = useState('');
  const [reason, setReason] = useState('');
  const { busy, failure, run } = useRequest();
  const isAdded = ({ state, address }: Entry): boolean =>
    address !== undefined && (state === 'found' || (withMissing && state === 'absent'));
  const added = entries.filter(isAdded).map(({ address }) => address!);
  const limit: Limit = day ? { until: endOf(day), reason: reason.trim() } : {};
  const patch = withMembers(group, added, limit);
  const add = (): Promise<boolean> =>
    run(async () => {
      await patchGroup(kind, group, patch);
      const left = entries.filter((entry) => isMissing(entry) && !isAdded(entry));
      setText(left.map((entry) => entry.text).join('\n'));
      announce(t('groups.done', { count: added.length }));
    });
  return (
    <Form onSubmit={() => added.length > 0 && void add()}>
      <PastedText text={text} setText={setText} />
      {read.failure && <Failure failure={read.failure} retry={read.reload} />}
      <Found {...{ entries, text, setText, withMissing, setWithMissing }} />
      <LimitFields {...{ day, setDay, reason, setReason }} />
      {failure && <Failure failure={failure} isChange />}
      <Button variant="main" submit busy={busy} disabled={added.length === 0}>
        {added.length > 0 ? t('groups.submit', { count: added.length }) : t('groups.add')}
      </Button>
      {added.length > 0 && <Kubectl command={patchCommand(kind, group.metadata.name, patch)} />}
    </Form>
  );
}
