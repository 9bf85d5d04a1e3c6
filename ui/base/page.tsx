import type { ComponentChildren } from 'preact';
import { useAppearance } from './api/appearance.js';
import { FooterLinks } from './footer-links.js';
import { catalogLanguage, languages, storePreference, loadLocale } from './text/i18n.js';
import { Ltr, t } from './text/message.js';

/** The languages of the page to choose from. */
export function LanguageMenu({ changed: onLanguageChange }: { changed: () => void }) {
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
      {[...languages].map(([tag, { name }]) => (
        <option value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface Props {
  alert?: ComponentChildren;
  /** The alert repeats a text that is next to a field: only screen readers get it. */
  isAlertHidden?: boolean | undefined;
  footer?: ComponentChildren;
  /** Called after the language was changed. */
  onLanguageChange: () => void;
  wide?: boolean;
  children: ComponentChildren;
}

/**
 * The frame of every page: the name of the deployment and our host on top, one card, the two
 * live regions and a footer. A page also needs its HTML file, ui/NAME.html, and an entry in ui/build.mjs and
 * apiserver/static-pages.ts.
 *
 * @example
 * ```tsx
 * function Greeting() {
 *   const [, redraw] = useState(0);
 *   return (
 *     <Page onLanguageChange={() => redraw((count) => count + 1)}>
 *       <View title="mailbox.title" phase="greeting">
 *         <p class="lead">{t('mailbox.none')}</p>
 *       </View>
 *     </Page>
 *   );
 * }
 * addMessages(messages);
 * render(<Greeting />, mountPoint());
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
  const { displayName, logo, supportURI, privacyPolicyURI, termsOfServiceURI } = useAppearance();
  return (
    <>
      <header class="top">
        {logo ? <img class="logo" src={logo} alt="" /> : <span class="mark" />}
        {displayName && <bdi>{displayName}</bdi>}
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
        <FooterLinks
          name={displayName ?? location.host}
          help={supportURI}
          privacy={privacyPolicyURI}
          terms={termsOfServiceURI}
        />
        <LanguageMenu changed={changed} />
      </footer>
    </>
  );
}

/**
 * Returns the element to render a page into, without the shell's skeleton. A page restored from the
 * back/forward cache is reloaded.
 */
export const mountPoint = (): HTMLElement => {
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });
  const app = document.getElementById('app')!;
  app.textContent = '';
  return app;
};
