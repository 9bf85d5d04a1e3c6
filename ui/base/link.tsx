import type { ComponentChildren } from 'preact';
import { t } from './text/message.js';

/**
 * A link that leaves our pages. An address with a scheme other than http and https is shown as
 * text. `newTab` opens it in a new tab.
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

/** Returns the host of an address, or an empty string if it is not a URL. */
export const hostOf = (address: string | undefined): string =>
  address && URL.canParse(address) ? new URL(address).host : '';
