import { ApiError } from '../../base/api/api.js';
import { Lazy, useLazy } from '../../base/api/lazy.js';
import { t } from '../../base/text/message.js';
import { useConsole } from '../base/console-context.js';
import { kindOf, pluralOf, useIsAllowed } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { A, English, Failure, Loading } from '../base/parts.js';
import { pathTo, type Part } from '../base/route.js';
import { objectSchema } from '../base/schema.js';

type TilePart = Exclude<Part, 'settings'> | 'appearance';

/** A part that is made for a task, with what it is for. */
const Tile = ({ part, to }: { part: TilePart; to: string }) => (
  <li>
    <h2>
      <A to={to}>{t(`console.${part}`)}</A>
    </h2>
    <p class="hint">{t(`console.${part}.lead`)}</p>
  </li>
);

const appearance = 'default';

/** Anyone may read the Appearance, so the form of it is offered only to who may change it. */
function AppearanceTile({ kind }: { kind: Kind }) {
  const isAllowed = useIsAllowed(kind, 'patch', appearance);
  if (!isAllowed) return null;
  return <Tile part="appearance" to={pathTo(kind.resource, appearance, 'edit')} />;
}

/** The parts that are made for one kind, as far as the caller may list it. */
function Parts() {
  const { listed } = useConsole();
  const appearances = kindOf(listed, 'Appearance');
  const parts = (
    [
      ['people', 'Account'],
      ['apps', 'Client'],
      ['policy', 'Policy'],
      ['decisions', 'PolicyDecision'],
    ] as const
  ).filter(([, kind]) => kindOf(listed, kind));
  if (parts.length === 0 && !appearances) return null;
  return (
    <ul class="tiles first" aria-label={t('console.tasks')}>
      {parts.map(([part]) => (
        <Tile key={part} part={part} to={pathTo(part)} />
      ))}
      {appearances && <AppearanceTile kind={appearances} />}
    </ul>
  );
}

const serviceStateChunk = new Lazy(() => import('./service-state.js'));

/** The state of the service, after its chunk is loaded. */
function State({ kind }: { kind: Kind }) {
  const { loaded, isMissing } = useLazy(serviceStateChunk);
  if (loaded) return <loaded.ServiceState kind={kind} />;
  return isMissing ? <Failure failure={new ApiError(0)} /> : <Loading />;
}

/** The state of the service for those who may see it, and every kind that the caller may list. */
export function Overview() {
  const { listed, document } = useConsole();
  const replicas = kindOf(listed, 'Replica');
  return (
    <Frame title="console.title">
      <Parts />
      {replicas && <State kind={replicas} />}
      {replicas && <h2>{t('console.kinds')}</h2>}
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
