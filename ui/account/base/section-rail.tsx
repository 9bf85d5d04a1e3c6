import { useEffect, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../base/frame/icon.js';
import { t } from '../../base/text/message.js';
import { focusSection, type SectionID } from './section.js';

/** The icons of the sections in their order; a gap is between two lists. */
const groups: readonly Readonly<Partial<Record<SectionID, IconName>>>[] = [
  { profile: 'circle-user', email: 'mail', passkeys: 'fingerprint-pattern', sessions: 'monitor' },
  { apps: 'app-window', grants: 'share-2', groups: 'layers' },
  { decisions: 'list-checks', reviews: 'send', data: 'download' },
];

/** The line, from the top of the window, above which a section must begin to be the current one. */
const lineAt = 160;

/** Returns the section that is read: the last one above the line, or at the end the last one. */
function readSection(): string {
  const all = [...document.querySelectorAll('main section:not(.notice)')];
  const { scrollHeight } = document.documentElement;
  const isAtEnd = scrollY > 0 && innerHeight + scrollY >= scrollHeight - 1;
  const begun = all.filter((one) => one.getBoundingClientRect().top < lineAt);
  const current = (isAtEnd ? all : begun).at(-1) ?? all[0];
  return current?.getAttribute('aria-labelledby') ?? 'profile';
}

/** Links to the sections. The address stays the same, because its fragment may contain a step. */
export function SectionRail({ absent }: { absent: readonly SectionID[] }) {
  const [current, setCurrent] = useState('profile');
  useEffect(() => {
    const listeners = new AbortController();
    addEventListener('scroll', () => setCurrent(readSection()), listeners);
    return () => listeners.abort();
  }, []);
  const go = (event: Event, id: SectionID): void => {
    event.preventDefault();
    document.getElementById(id)?.scrollIntoView();
    focusSection(id);
    // After the scroll event, which is before the next frame is drawn: a short page ends elsewhere.
    requestAnimationFrame(() => requestAnimationFrame(() => setCurrent(id)));
  };
  return (
    <>
      {groups.map((group, i) => (
        <ul key={i}>
          {(Object.entries(group) as [SectionID, IconName][])
            .filter(([id]) => !absent.includes(id))
            .map(([id, icon]) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  aria-current={id === current ? 'location' : undefined}
                  onClick={(event) => go(event, id)}
                >
                  <Icon of={icon} />
                  {t(`part.${id}`)}
                </a>
              </li>
            ))}
        </ul>
      ))}
    </>
  );
}
