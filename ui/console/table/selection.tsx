import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../base/frame/icon.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';

/** The selected rows of a table, by the names of their objects. */
export interface Selection {
  readonly names: ReadonlySet<string>;
  /** Selects a row or not; with `range` also those between it and the one before. */
  toggle: (name: string, range: boolean) => void;
  toggleAll: () => void;
  clear: () => void;
}

/** Returns the selection among these names; what is no longer shown is not selected. */
export function useSelection(all: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const names = new Set(all.filter((name) => chosen.has(name)));
  const choose = (next: ReadonlySet<string>): void => {
    setChosen(next);
    announce(t('table.selected', { count: next.size }));
  };
  return {
    names,
    toggle(name, range) {
      const [from, to] = [all.indexOf(last.current ?? name), all.indexOf(name)];
      const touched =
        range && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [name];
      const next = new Set(names);
      for (const one of touched) {
        if (names.has(name)) next.delete(one);
        else next.add(one);
      }
      last.current = name;
      choose(next);
    },
    toggleAll: () => choose(new Set(names.size === all.length ? [] : all)),
    clear: () => choose(new Set()),
  };
}

interface CheckProps {
  label: string;
  checked: boolean;
  isPartly?: boolean;
  onChange: (range: boolean) => void;
}

/** A box to tick, with a name for screen readers only. */
export function Check({ label, checked, isPartly = false, onChange }: CheckProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    box.current!.indeterminate = isPartly;
  }, [isPartly]);
  return (
    <input
      type="checkbox"
      ref={box}
      aria-label={label}
      checked={checked}
      onClick={(event) => onChange(event.shiftKey)}
    />
  );
}

/** What can be done with the selected rows, over the foot of the page. */
export function SelectionBar({
  selection,
  children,
}: {
  selection: Selection;
  children: ComponentChildren;
}) {
  const { names, clear } = selection;
  useEffect(() => {
    const listeners = new AbortController();
    addEventListener('keydown', ({ key }) => key === 'Escape' && clear(), listeners);
    return () => listeners.abort();
  }, [names.size]);
  if (names.size === 0) return null;
  return (
    <div class="bulk" role="group" aria-label={t('table.selected', { count: names.size })}>
      <span>{t('table.selected', { count: names.size })}</span>
      {children}
      <button
        type="button"
        class="button icon-only quiet-button"
        aria-label={t('table.clear')}
        onClick={clear}
      >
        <Icon of="x" />
      </button>
    </div>
  );
}
