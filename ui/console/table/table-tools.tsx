import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Icon, type IconName } from '../../base/frame/icon.js';
import { Status } from '../../base/status.js';
import { t } from '../../base/text/message.js';
import type { DataColumn } from './column.js';
import { titleOf, type Filter, type FilterChoice } from './filter.js';

/** A button that opens a menu beside it; a press elsewhere or Escape closes it. */
export function MenuButton({
  id,
  icon,
  label,
  words,
  children,
}: {
  id: string;
  icon: IconName;
  label: string;
  /** Shown beside the icon. */
  words?: string;
  children: ComponentChildren;
}) {
  const look = words ? 'button small dashed' : 'button small icon-only quiet-button';
  return (
    <span class="menu-place">
      <button type="button" class={look} popovertarget={id} aria-label={words ? undefined : label}>
        <Icon of={icon} />
        {words}
      </button>
      <div class="menu" id={id} popover="auto" role="group" aria-label={label}>
        {children}
      </div>
    </span>
  );
}

/** The field to search in. `/` leads to it from anywhere on the page. */
export function SearchBox({
  label,
  words,
  onSearch,
}: {
  label: string;
  words: string;
  onSearch: (words: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  useEffect(() => {
    const timer = setTimeout(() => typed.trim() !== words && onSearch(typed.trim()), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const listeners = new AbortController();
    const focus = (event: KeyboardEvent): void => {
      const { target } = event;
      const isTyping =
        target instanceof Element && target.closest('input, textarea, select, [contenteditable]');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus, listeners);
    return () => listeners.abort();
  }, []);
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(typed.trim());
      }}
    >
      <Icon of="search" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

/** The conditions in force, each with a button that takes it away. */
export const Chips = ({
  filters,
  remove,
}: {
  filters: readonly Filter[];
  remove: (filter: Filter) => void;
}) => (
  <>
    {filters.map((filter) => (
      <span class="chip" key={filter.id}>
        <span lang={filter.lang}>{filter.title}</span> <bdi>{titleOf(filter)}</bdi>
        <button
          type="button"
          aria-label={t('table.filter.remove', { filter: `${filter.title} ${titleOf(filter)}` })}
          onClick={() => remove(filter)}
        >
          <Icon of="x" />
        </button>
      </span>
    ))}
  </>
);

/** The form that adds a condition: a field and its value. */
export function AddFilter({
  choices,
  add,
}: {
  choices: readonly FilterChoice[];
  add: (id: string, value: string) => void;
}) {
  const [id, setID] = useState(choices[0]!.id);
  const [typed, setValue] = useState('');
  const options = choices.find((choice) => choice.id === id)?.options;
  const value =
    options && !options.some(([one]) => one === typed) ? (options[0]?.[0] ?? '') : typed;
  return (
    <MenuButton id="add-filter" icon="plus" label={t('table.filter')} words={t('table.filter')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          document.getElementById('add-filter')!.hidePopover();
          if (value.trim()) add(id, value.trim());
          setValue('');
        }}
      >
        <div class="field">
          <label for="filter-field">{t('table.filter.field')}</label>
          <select
            id="filter-field"
            value={id}
            onInput={({ currentTarget }) => setID(currentTarget.value)}
          >
            {choices.map((choice) => (
              <option value={choice.id} lang={choice.lang}>
                {choice.title}
              </option>
            ))}
          </select>
        </div>
        <Field
          id="filter-value"
          label={t('table.filter.value')}
          value={value}
          choices={options}
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          placeholder={id === 'labels' ? 'app=notes' : undefined}
          onText={setValue}
        />
        <Button submit>{t('table.filter.add')}</Button>
      </form>
    </MenuButton>
  );
}

/** The columns to choose from; the first one is always shown. */
export const ColumnMenu = ({
  columns,
  shown,
  toggle,
}: {
  columns: readonly DataColumn[];
  shown: ReadonlySet<string>;
  toggle: (id: string) => void;
}) => (
  <MenuButton id="columns" icon="columns-3" label={t('table.columns')}>
    {columns.slice(1).map(({ id, title }) => (
      <label class="choice-line" key={id}>
        <input type="checkbox" checked={shown.has(id)} onChange={() => toggle(id)} />
        {title}
      </label>
    ))}
  </MenuButton>
);

/** How many rows are shown, of how many. */
export const RowCount = ({ count, all }: { count: number; all: number }) => (
  <Status look="hint row-count">
    {count === all ? t('console.shown', { count }) : t('table.of', { count, all })}
  </Status>
);
