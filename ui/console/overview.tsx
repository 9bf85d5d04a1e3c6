import { t } from '../base/message.js';
import { useConsole } from './console-context.js';
import { clientsOf, pluralOf } from './discovery.js';
import { Frame } from './frame.js';
import { A, English } from './parts.js';
import { pathTo } from './route.js';
import { objectSchema } from './schema.js';

/** Every kind that the caller may list, with what it is. */
export function Overview() {
  const { listed, document } = useConsole();
  return (
    <Frame title="console.title">
      {clientsOf(listed) && (
        <ul class="tiles first">
          <li>
            <h2>
              <A to={pathTo('apps')}>{t('console.apps')}</A>
            </h2>
            <p class="hint">{t('console.apps.lead')}</p>
          </li>
        </ul>
      )}
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
