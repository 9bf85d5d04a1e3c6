import type { ComponentChildren } from 'preact';
import { catalogLanguage, languages, storePreference, loadLocale } from './i18n.js';
import { Ltr, t } from './message.js';

function LanguageMenu({ changed: onLanguageChange }: { changed: () => void }) {
  const choose = async (wanted: string): Promise<void> => {
    storePreference(wanted);
    await loadLocale([wanted]);
    onLanguageChange();
  };
  return (
    <select
      aria-label={t('language.menu')}
      value={catalogLanguage()}
      onChange={(event) => void choose(event.currentTarget.value)}
    >
      {['en', ...languages.keys()].map((one) => (
        <option value={one}>{new Intl.DisplayNames(one, { type: 'language' }).of(one)}</option>
      ))}
    </select>
  );
}

interface Props {
  alert?: ComponentChildren;
  /** The alert repeats what stands next to a field: heard, not seen. */
  isAlertHidden?: boolean | undefined;
  footer?: ComponentChildren;
  /** Called when another language was chosen. */
  onLanguageChange: () => void;
  wide?: boolean;
  children: ComponentChildren;
}

/**
 * The frame of every page: our own host above, one card, the two live regions, and a footer. A page
 * also has its HTML, ui/NAME.html, and stands in ui/build.mjs and apiserver/static-pages.ts.
 *
 * @example
 * ```tsx
 * function Greeting() {
 *   const [, redraw] = useState(0);
 *   return (
 *     <Page changed={() => redraw((count) => count + 1)}>
 *       <View title="mailbox.title" phase="greeting">
 *         <p class="lead">{t('mailbox.none')}</p>
 *       </View>
 *     </Page>
 *   );
 * }
 * addMessages(messages);
 * render(<Greeting />, place());
 * ```
 */
export function Page({
  alert,
  isAlertHidden: quiet,
  footer,
  onLanguageChange: changed,
  wide,
  children,
}: Props) {
  return (
    <>
      <header class="top">
        <span class="mark" />
        <Ltr of={location.host} />
      </header>
      <main>
        <div class={`card ${wide ? 'wide' : ''}`}>
          <div role="alert" class={quiet ? 'quiet' : ''}>
            {alert && <div class="notice bad">{alert}</div>}
          </div>
          {children}
        </div>
        <p role="status" class="quiet" />
      </main>
      <footer class="bottom">
        {footer}
        {languages.size > 0 && <LanguageMenu changed={changed} />}
      </footer>
    </>
  );
}

/**
 * Where a page goes, cleared of the shell's skeleton; a page that comes back out of the browser's
 * memory is loaded again.
 */
export const mountPoint = (): HTMLElement => {
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });
  const app = document.getElementById('app')!;
  app.textContent = '';
  return app;
};
