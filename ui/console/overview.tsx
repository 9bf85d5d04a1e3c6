import { t } from '../base/message.js';
import { useConsole } from './console-context.js';
import { kindOf, pluralOf } from './discovery.js';
import { Frame } from './frame.js';
import { A, English } from './parts.js';
import { pathTo } from './route.js';
import { objectSchema } from './schema.js';

/** The parts that are made for one kind, as far as the caller may list it. */
function Parts() {
  const { listed } = useConsole();
  const parts = (
    [
      ['people', 'Account'],
      ['apps', 'Client'],
    ] as const
  ).filter(([, kind]) => kindOf(listed, kind));
  if (parts.length === 0) return null;
  return (
    <ul class="tiles first">
      {parts.map(([part]) => (
        <li key={part}>
          <h2>
            <A to={pathTo(part)}>{t(`console.${part}`)}</A>
          </h2>
          <p class="hint">{t(`console.${part}.lead`)}</p>
        </li>
      ))}
    </ul>
  );
}

/** Every kind that the caller may list, with what it is. */
export function Overview() {
  const { listed, document } = useConsole();
  return (
    <Frame title="console.title">
      <Parts />
      <p class="lead">{t('console.lead')}</p>
      <ul class="tiles" aria-label={t('console.kinds')}>
        {listed.map((kind) => (
          <li key={kind.resource}>
            <h2>
              <A to={pathTo(kind.resource)}>
                <English>{pluralOf(kind)}</English>
              </A>
            </h2>
            <p class="hint">
              <English>{objectSchema(document, kind).description}</English>
            </p>
          </li>
        ))}
      </ul>
      {listed.length === 0 && <p>{t('console.nothing')}</p>}
    </Frame>
  );
}
