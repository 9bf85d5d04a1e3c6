import { useEffect, useState } from 'preact/hooks';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { Icon } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';

const chunk = new Lazy(() => import('./command-bar.js'));
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The field in the bar that opens the command bar; Ctrl K or ⌘ K does the same from anywhere. */
export function CommandButton() {
  const [isOpen, setOpen] = useState(false);
  const { loaded } = useLazy(isOpen ? chunk : undefined);
  useEffect(() => {
    const listeners = new AbortController();
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', open, listeners);
    return () => listeners.abort();
  }, []);
  return (
    <>
      <button
        type="button"
        class="command-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon of="search" />
        <span>{t('command.open')}</span>
        <kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && loaded && <loaded.CommandBar onClose={() => setOpen(false)} />}
    </>
  );
}
