import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import { A } from '../base/parts.js';
import { pathTo } from '../base/route.js';
import { ServiceState } from './service-state.js';
import { SpanSwitch } from './span-switch.js';

/** The state of the service for those who may see it; for others, where they can go. */
export function Overview() {
  const { listed } = useConsole();
  const replicas = kindOf(listed, 'Replica');
  return (
    <Frame title="console.overview" actions={replicas && <SpanSwitch />}>
      {replicas && <ServiceState kind={replicas} />}
      {!replicas && listed.length > 0 && (
        <p class="lead">
          {t('console.lead')} <A to={pathTo('kinds')}>{t('console.kinds')}</A>
        </p>
      )}
      {listed.length === 0 && <p>{t('console.nothing')}</p>}
    </Frame>
  );
}
