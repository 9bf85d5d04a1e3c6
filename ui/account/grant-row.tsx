import type { ComponentChild } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Grant } from '../api.js';
import { announce } from '../base/live-region.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import type { Kept } from '../base/collection.js';
import { cap, Latin, t, format } from '../base/message.js';
import { Moment } from '../base/relative-time.js';
import { Monogram } from '../base/monogram.js';
import { row } from '../decisions/words.js';
import { useAct, type Act } from './use-action.js';
import { Confirm } from './confirm.js';
import { Hidden } from './visually-hidden.js';
import { useMe } from './account-context.js';
import { toPart } from './section.js';

/** Without it there is no access at all; it goes by removing the service. */
const fixed = 'openid';

type Disclosure = Grant['status']['disclosures'][number];

function sent({ claims, provider, lastTimestamp }: Disclosure): ComponentChild {
  const values = {
    claims: <>{row(claims.map((claim) => <Latin of={claim} />))}</>,
    when: <Moment of={lastTimestamp} />,
  };
  return provider === 'vestibule'
    ? format('grants.sent', values)
    : format('grants.sent.from', { ...values, provider });
}

interface ScopeProps {
  id: string;
  scope: string;
  kept: boolean;
  disclosures: readonly Disclosure[];
  keep: (kept: boolean) => void;
}

function Scope({ id, scope, kept, disclosures, keep }: ScopeProps) {
  const { names } = useMe();
  return (
    <div class="scope">
      <input
        type="checkbox"
        id={id}
        checked={kept}
        disabled={scope === fixed}
        aria-describedby={`${id}-what`}
        onChange={(event) => keep(event.currentTarget.checked)}
      />
      <label for={id}>
        <bdi>{cap(names.scopes.get(scope) ?? scope)}</bdi>
      </label>
      <p class="what hint" id={`${id}-what`}>
        {disclosures.length > 0
          ? disclosures.map((one, i) => (
              <>
                {i > 0 && ' · '}
                {sent(one)}
              </>
            ))
          : t('grants.unsent')}
        {scope === fixed && <> · {t('grants.required')}</>}
      </p>
    </div>
  );
}

/** Since when a service has had it, and when it last asked. */
function Times({ status: { grantedTimestamp, lastUsedTimestamp } }: Pick<Grant, 'status'>) {
  const when = <Moment of={grantedTimestamp} />;
  return (
    <p class="hint">
      {lastUsedTimestamp
        ? format('grants.used', { when, used: <Moment of={lastUsedTimestamp} /> })
        : format('grants.since', { when })}
    </p>
  );
}

interface ScopesProps {
  grant: Grant;
  leaving: readonly string[];
  keep: (scope: string, kept: boolean) => void;
}

/** The scopes of a service; those that are `leaving` are unticked. */
function Scopes({ grant: { metadata, spec, status }, leaving, keep }: ScopesProps) {
  return (
    <div class="scopes" role="group" aria-label={status.client.displayName}>
      {spec.scopes.map((scope, i) => (
        <Scope
          key={scope}
          id={`${metadata.name}-${i}`}
          scope={scope}
          kept={!leaving.includes(scope)}
          disclosures={status.disclosures.filter((one) => one.scope === scope)}
          keep={(kept) => keep(scope, kept)}
        />
      ))}
    </div>
  );
}

/** Takes scopes from a service; true once that is done. */
function shrink(
  act: Act,
  { metadata: { name }, spec }: Grant,
  leaving: readonly string[],
  all: Kept<Grant>,
): Promise<boolean> {
  const scopes = spec.scopes.filter((scope) => !leaving.includes(scope));
  return act.run(async () =>
    all.put(await call<Grant>('PATCH', `grants/${name}`, { spec: { scopes } })),
  );
}

/** Takes everything from a service. */
async function remove(
  act: Act,
  { metadata: { name }, status }: Grant,
  all: Kept<Grant>,
): Promise<void> {
  const removed = await act.run(async () => {
    await call('DELETE', `grants/${name}`);
  });
  if (!removed) return;
  all.drop(name);
  announce(t('grants.removed', { client: status.client.displayName }));
  toPart('grants');
}

/**
 * One service: what it may see, scope by scope, what was sent of it, and the way to less or
 * nothing.
 */
export function GrantRow({ grant, all }: { grant: Grant; all: Kept<Grant> }) {
  const [dropped, setDropped] = useState<readonly string[]>([]);
  const [removing, setRemoving] = useState(false);
  const act = useAct();
  const place = useRef<HTMLLIElement>(null);
  const client = grant.status.client.displayName;
  const leaving = grant.spec.scopes.filter((scope) => dropped.includes(scope));
  const back = (): void => {
    act.clear();
    setDropped([]);
    setRemoving(false);
    requestAnimationFrame(() =>
      place.current?.querySelector<HTMLElement>('button, input:enabled')?.focus(),
    );
  };
  const confirm = async (): Promise<void> => {
    if (!(await shrink(act, grant, leaving, all))) return;
    back();
    announce(t('grants.made', { client }));
  };
  const keep = (scope: string, kept: boolean): void => {
    setRemoving(false);
    setDropped(kept ? dropped.filter((one) => one !== scope) : [...dropped, scope]);
  };
  return (
    <li class="thing" ref={place}>
      <div class="party">
        <Monogram name={client} />
        <h3>
          <bdi>{cap(client)}</bdi>
        </h3>
      </div>
      <Times status={grant.status} />
      <Scopes grant={grant} leaving={leaving} keep={keep} />
      {/* The keyboard stays on the box that was unticked, so that more of them can be. */}
      {leaving.length > 0 && (
        <Confirm still act={act} confirm={confirm} keep={back}>
          <p>{format('grants.smaller', { count: leaving.length, client })}</p>
        </Confirm>
      )}
      {leaving.length === 0 && !removing && (
        <p class="deeds">
          <Button look="small" press={() => setRemoving(true)}>
            {format('grants.remove', { client: <Hidden>{cap(client)}</Hidden> })}
          </Button>
        </p>
      )}
      {leaving.length === 0 && removing && (
        <Confirm act={act} confirm={() => remove(act, grant, all)} keep={back}>
          <p>{format('grants.remove.ask', { client })}</p>
        </Confirm>
      )}
    </li>
  );
}
