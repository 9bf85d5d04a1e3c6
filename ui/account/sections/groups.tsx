import { useEffect } from 'preact/hooks';
import { readItems } from '../../base/api/api.js';
import { useRead } from '../../base/api/use-read.js';
import { membershipOf, type Group } from '../../base/group.js';
import { format, Text } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useAccountContext } from '../base/account-context.js';
import { Section } from '../base/section.js';

/** The groups of the person among those that policy lets them read; most people read none. */
export function Groups({ onShown }: { onShown: (id: 'groups', isShown: boolean) => void }) {
  const { account, isLive } = useAccountContext();
  const { address } = account.status.email;
  const { value = [] } = useRead(isLive ? () => readItems<Group>('groups') : undefined, [
    address,
    isLive,
  ]);
  const own = value.flatMap((group) => {
    const membership = membershipOf(group, address);
    return membership ? [{ group, ...membership }] : [];
  });
  const isShown = own.length > 0;
  useEffect(() => onShown('groups', isShown), [isShown]);
  if (!isShown) return null;
  return (
    <Section id="groups" hint="groups.hint">
      <ul class="things" aria-labelledby="groups">
        {own.map(({ group, until, reason }) => (
          <li class="thing short" key={group.metadata.name}>
            <h3>
              <Text of={group.spec.displayName} />
            </h3>
            {until && (
              <p class="hint">
                {format('groups.until', { when: <Timestamp of={until} /> })}
                {reason && (
                  <>
                    {' · '}
                    <Text of={reason} max={200} />
                  </>
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
