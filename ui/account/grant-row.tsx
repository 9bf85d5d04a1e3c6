import type { ComponentChild } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Grant } from '../api.js';
import { announce } from '../base/announcement.js';
import { call } from '../base/api.js';
import { Button } from '../base/button.js';
import type { Kept } from '../base/collection.js';
import { cap, Latin, say, tell } from '../base/message.js';
import { Moment } from '../base/moment.js';
import { Monogram } from '../base/monogram.js';
import { row } from '../decisions/words.js';
import { useAct } from './act.js';
import { Confirm } from './confirm.js';
import { Hidden } from './hidden.js';
import { useMe } from './me.js';
import { toPart } from './part.js';

/** Without it there is no access at all; it goes by removing the service. */
const fixed = 'openid';

type Disclosure = Grant['status']['disclosures'][number];

function sent({ claims, provider, lastTimestamp }: Disclosure): ComponentChild {
  const values = {
    claims: <>{row(claims.map((claim) => <Latin of={claim} />))}</>,
    when: <Moment of={lastTimestamp} />,
  };
  return provider === 'vestibule'
    ? tell('grants.sent', values)
    : tell('grants.sent.from', { ...values, provider });
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
          : say('grants.unsent')}
        {scope === fixed && <> · {say('grants.required')}</>}
      </p>
    </div>
  );
}

/**
 * One service: what it may see, scope by scope, what was sent of it, and the way to less or
 * nothing.
 */
export function GrantRow({ grant, all }: { grant: Grant; all: Kept<Grant> }) {
  const {
    metadata: { name },
    spec: { scopes },
    status,
  } = grant;
  const [dropped, setDropped] = useState<readonly string[]>([]);
  const [removing, setRemoving] = useState(false);
  const act = useAct();
  const place = useRef<HTMLLIElement>(null);
  const client = status.client.displayName;
  const leaving = scopes.filter((scope) => dropped.includes(scope));
  const back = (): void => {
    act.clear();
    setDropped([]);
    setRemoving(false);
    requestAnimationFrame(() =>
      place.current?.querySelector<HTMLElement>('button, input:enabled')?.focus(),
    );
  };
  const shrink = async (): Promise<void> => {
    const rest = scopes.filter((scope) => !leaving.includes(scope));
    if (
      await act.run(async () =>
        all.put(await call<Grant>('PATCH', `grants/${name}`, { spec: { scopes: rest } })),
      )
    ) {
      back();
      announce(say('grants.made', { client }));
    }
  };
  const remove = async (): Promise<void> => {
    if (
      !(await act.run(async () => {
        await call('DELETE', `grants/${name}`);
      }))
    )
      return;
    all.drop(name);
    announce(say('grants.removed', { client }));
    toPart('grants');
  };
  const used = status.lastUsedTimestamp;
  return (
    <li class="thing" ref={place}>
      <div class="party">
        <Monogram name={client} />
        <h3>
          <bdi>{cap(client)}</bdi>
        </h3>
      </div>
      <p class="hint">
        {used
          ? tell('grants.used', {
              when: <Moment of={status.grantedTimestamp} />,
              used: <Moment of={used} />,
            })
          : tell('grants.since', { when: <Moment of={status.grantedTimestamp} /> })}
      </p>
      <div class="scopes" role="group" aria-label={client}>
        {scopes.map((scope, i) => (
          <Scope
            key={scope}
            id={`${name}-${i}`}
            scope={scope}
            kept={!leaving.includes(scope)}
            disclosures={status.disclosures.filter((one) => one.scope === scope)}
            keep={(kept) => {
              setRemoving(false);
              setDropped(kept ? dropped.filter((one) => one !== scope) : [...dropped, scope]);
            }}
          />
        ))}
      </div>
      {/* The keyboard stays on the box that was unticked, so that more of them can be. */}
      {leaving.length > 0 && (
        <Confirm still act={act} confirm={shrink} keep={back}>
          <p>{tell('grants.smaller', { count: leaving.length, client })}</p>
        </Confirm>
      )}
      {leaving.length === 0 && !removing && (
        <p class="deeds">
          <Button look="small" press={() => setRemoving(true)}>
            {tell('grants.remove', { client: <Hidden>{cap(client)}</Hidden> })}
          </Button>
        </p>
      )}
      {leaving.length === 0 && removing && (
        <Confirm act={act} confirm={remove} keep={back}>
          <p>{tell('grants.remove.ask', { client })}</p>
        </Confirm>
      )}
    </li>
  );
}
