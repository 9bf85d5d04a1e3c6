import type { ComponentChildren } from 'preact';
import { t } from './message.js';

/**
 * A way out of our pages; anything but http and https is not one. `tab` opens it beside this page.
 */
export function Link({
  to,
  tab: newTab,
  look: className,
  children,
}: {
  to: string;
  tab?: boolean;
  look?: string;
  children: ComponentChildren;
}) {
  const address = URL.canParse(to, location.origin) ? new URL(to, location.origin) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) return <span>{children}</span>;
  return (
    <a
      class={className}
      href={address.href}
      rel="noopener noreferrer"
      target={newTab ? '_blank' : undefined}
    >
      {children}
      {newTab && <span class="quiet"> ({t('newtab')})</span>}
    </a>
  );
}

/** The host of an address as people know it, or nothing where it is none. */
export const hostOf = (address: string | undefined): string =>
  address && URL.canParse(address) ? new URL(address).host : '';
