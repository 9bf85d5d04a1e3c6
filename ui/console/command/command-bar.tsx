import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useRead } from '../../base/api/use-read.js';
import { Icon } from '../../base/frame/icon.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import type { MessageID } from '../../messages/catalog.js';
import { useConsole } from '../base/console-context.js';
import { navigate } from '../base/route.js';
import {
  findPeople,
  findReference,
  fixedEntries,
  matching,
  readNamed,
  type Entry,
} from './entries.js';

const pauseMs = 150;

const groupNames: Readonly<Record<Entry['group'], MessageID>> = {
  people: 'console.people',
  apps: 'console.apps',
  groups: 'console.groups',
  acts: 'command.acts',
  places: 'command.places',
};

/** Returns words once nothing was typed for a moment. */
function useSettled(words: string): string {
  const [settled, set] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => set(words), pauseMs);
    return () => clearTimeout(timer);
  }, [words]);
  return settled;
}

/** Returns what the typed words find: people by the service, the rest among what is known here. */
function useFound(words: string): readonly Entry[] {
  const context = useConsole();
  const fixed = useMemo(() => fixedEntries(context), [context]);
  const { value: named = [] } = useRead(() => readNamed(context), []);
  const settled = useSettled(words.trim());
  const { value: people = [] } = useRead(
    () => findPeople(context, settled).catch(() => []),
    [settled],
  );
  const others = matching([...(words.trim() ? named : []), ...fixed], words);
  const references = findReference(context, words.trim().toLowerCase());
  return words.trim() ? [...references, ...people, ...others] : others;
}

interface ListProps {
  found: readonly Entry[];
  marked: number;
  open: (entry: Entry) => void;
}

/** The found entries below the names of their groups, as one list to choose from. */
const Found = ({ found, marked, open }: ListProps) => (
  <div id="command-list" role="listbox" aria-label={t('command.found')}>
    {found.map((entry, i) => (
      <>
        {entry.group !== found[i - 1]?.group && (
          <p class="group-name" role="presentation">
            {t(groupNames[entry.group])}
          </p>
        )}
        {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the keys are those of the field */}
        <div
          id={`command-${i}`}
          role="option"
          aria-selected={i === marked}
          onClick={() => open(entry)}
        >
          <Icon of={entry.icon} />
          <bdi>{entry.words}</bdi>
          {entry.detail && (
            <bdi class="soft" dir="ltr">
              {entry.detail}
            </bdi>
          )}
        </div>
      </>
    ))}
  </div>
);

/** Finds people, apps, groups, places and acts by what is typed; Enter opens the marked one. */
export function CommandBar({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useFound(words);
  const marked = Math.min(chosen, found.length - 1);
  useEffect(() => dialog.current!.showModal(), []);
  useEffect(() => {
    document.getElementById(`command-${marked}`)?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  useEffect(() => announce(t('command.count', { count: found.length })), [found.length]);
  const open = ({ to }: Entry): void => {
    onClose();
    navigate(to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((marked + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter' && !event.isComposing && found[marked]) {
      event.preventDefault();
      open(found[marked]);
    }
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape closes it, too
    <dialog
      class="command"
      ref={dialog}
      aria-label={t('command.open')}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-label={t('command.open')}
        aria-expanded="true"
        aria-controls="command-list"
        aria-activedescendant={found.length > 0 ? `command-${marked}` : undefined}
        placeholder={t('command.hint')}
        value={words}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setWords(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      {found.length > 0 ? (
        <Found found={found} marked={marked} open={open} />
      ) : (
        <p class="hint">{t('console.notfound')}</p>
      )}
    </dialog>
  );
}
