import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAppearance } from '../api/appearance.js';
import { FooterLinks } from '../footer-links.js';
import { LanguageMenu } from '../page.js';
import { Ltr, t } from '../text/message.js';
import { Icon } from './icon.js';

/** Who is signed in. */
interface Person {
  readonly name: string;
  readonly address: string;
}

/** Returns the first letters of the first and the last word of a name. */
function initialsOf(name: string): string {
  const letters = [...name.normalize('NFC').matchAll(/(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}]\p{M}*/gu)];
  const ends = letters.length > 1 ? [letters[0]!, letters.at(-1)!] : letters;
  return ends.map(([letter]) => letter.toLocaleUpperCase()).join('') || '·';
}

/** The first letters of a name, or of an address, in a circle. */
export const Face = ({ name }: { name: string }) => (
  <span class="face" aria-hidden="true">
    {initialsOf(name.replace(/@.*/, ''))}
  </span>
);

interface MenuProps {
  person: Person;
  onLanguageChange: () => void;
  children: ComponentChildren;
}

/** The menu of the signed-in person: their account, the language, the links of the deployment. */
function PersonMenu({ person: { name, address }, onLanguageChange, children }: MenuProps) {
  const { displayName, supportURI, privacyPolicyURI, termsOfServiceURI } = useAppearance();
  const shown = name || address;
  return (
    <>
      <button type="button" class="person" popovertarget="person-menu">
        <span class="quiet">{t('frame.person', { name: shown })}</span>
        <Face name={shown} />
        <Icon of="chevron-down" />
      </button>
      <div class="menu" id="person-menu" popover="auto">
        <p class="who">
          {name && <bdi>{name}</bdi>}
          <Ltr of={address} />
        </p>
        {children}
        <p class="links">
          <FooterLinks
            name={displayName ?? location.host}
            help={supportURI}
            privacy={privacyPolicyURI}
            terms={termsOfServiceURI}
          />
        </p>
        <LanguageMenu changed={onLanguageChange} />
      </div>
    </>
  );
}

/** The logo and the name of the service over its host; a link to the first place of the page. */
function Brand({ home }: { home: string }) {
  const { displayName, logo } = useAppearance();
  return (
    <a class="brand" href={home}>
      {logo ? <img class="logo" src={logo} alt="" /> : <span class="mark" />}
      <span>
        {displayName && <bdi>{displayName}</bdi>}
        <Ltr of={location.host} />
      </span>
    </a>
  );
}

interface Props {
  /** Where the name of the service leads. */
  home: string;
  /** The places of the page; on a phone they are behind a button. */
  rail?: ComponentChildren;
  railLabel: string;
  /** In the middle of the bar. */
  search?: ComponentChildren;
  /** At the end of the bar. */
  action?: ComponentChildren;
  /** The text of an error that is shown elsewhere, for screen readers. */
  alert?: string | undefined;
  /** Absent until it is known. */
  person?: Person | undefined;
  /** What the person's menu offers. */
  menu?: ComponentChildren;
  /** Called after the language was changed. */
  onLanguageChange: () => void;
  children: ComponentChildren;
}

/**
 * The frame of a page on which people work: a bar, a rail with the places of the page, and a sheet
 * over the full width. Like `Page` it has the two live regions and one `main`.
 */
export function AppPage({
  home,
  rail,
  railLabel,
  search,
  action,
  alert,
  person,
  menu,
  onLanguageChange,
  children,
}: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="frame">
      <header class="bar">
        <button
          type="button"
          class="button icon-only quiet-button rail-button"
          aria-label={t('frame.menu')}
          aria-expanded={isOpen}
          aria-controls="rail"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon of={isOpen ? 'x' : 'menu'} />
        </button>
        <Brand home={home} />
        {search}
        {person && (
          <PersonMenu person={person} onLanguageChange={onLanguageChange}>
            {menu}
          </PersonMenu>
        )}
        {action}
      </header>
      <nav
        class={isOpen ? 'rail open' : 'rail'}
        id="rail"
        aria-label={railLabel}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('a')) setOpen(false);
        }}
      >
        {rail}
      </nav>
      <main>
        <div role="alert" class="quiet">
          {alert}
        </div>
        <div class="page">{children}</div>
        <p role="status" class="quiet" />
      </main>
    </div>
  );
}
