import type { ComponentChild } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Grant } from '../../api.js';
import { announce } from '../../base/live-region.js';
import { call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import type { LiveCollection } from '../../base/api/collection.js';
import { localText, nameOf } from '../../base/text/local-text.js';
import { Text, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import type { Request } from '../../base/api/use-request.js';
import { Monogram } from '../../base/text/monogram.js';
import type { Names } from '../../decisions/names.js';
import { joinList } from '../../decisions/words.js';
import { useAction } from '../base/use-action.js';
import { Confirm } from '../base/confirm.js';
import { VisuallyHidden } from '../base/visually-hidden.js';
import { useAccountContext } from '../base/account-context.js';
import { focusSection } from '../base/section.js';

/** Without this scope there is no access at all. It ends when the app is removed. */
const requiredScope = 'openid';

type Disclosure = Grant['status']['disclosures'][number];

function disclosureText(
  names: Names,
  { claims, provider, lastTimestamp }: Disclosure,
): ComponentChild {
  const values = {
    claims: <>{joinList(claims.map((claim) => names.claim(provider, claim)))}</>,
    when: <Timestamp of={lastTimestamp} />,
  };
  return provider === 'vestibule'
    ? format('grants.sent', values)
    : format('grants.sent.from', { ...values, provider });
}

/** What was shared with a scope. */
const disclosureHint = (names: Names, disclosures: readonly Disclosure[]): ComponentChild =>
  disclosures.length === 0
    ? t('grants.unsent')
    : disclosures.map((disclosure, i) => (
        <>
          {i > 0 && ' · '}
          {disclosureText(names, disclosure)}
        </>
      ));

interface ScopeProps {
  id: string;
  scope: string;
  title: string;
  isKept: boolean;
  hint?: ComponentChild;
  keep: (kept: boolean) => void;
}

function Scope({ id, scope, title, isKept: kept, hint, keep }: ScopeProps) {
  return (
    <div class="scope">
      <input
        type="checkbox"
        id={id}
        checked={kept}
        disabled={scope === requiredScope}
        aria-describedby={`${id}-what`}
        onChange={(event) => keep(event.currentTarget.checked)}
      />
      <label for={id}>
        <Text of={title} />
      </label>
      <p class="what hint" id={`${id}-what`}>
        {hint}
        {scope === requiredScope && <> · {t('grants.required')}</>}
      </p>
    </div>
  );
}

/** When access was allowed and when the app last used it. */
function GrantTimes({ status: { grantedTimestamp, lastUsedTimestamp } }: Pick<Grant, 'status'>) {
  const when = <Timestamp of={grantedTimestamp} />;
  return (
    <p class="hint">
      {lastUsedTimestamp
        ? format('grants.used', { when, used: <Timestamp of={lastUsedTimestamp} /> })
        : format('grants.since', { when })}
    </p>
  );
}

interface ScopesProps {
  grant: Grant;
  removed: readonly string[];
  keep: (scope: string, kept: boolean) => void;
}

/** The scopes of an app, then those of each Audience. Those in `removed` are unchecked. */
function Scopes({ grant: { metadata, spec, status }, removed, keep }: ScopesProps) {
  const { names } = useAccountContext();
  return (
    <div class="scopes" role="group" aria-label={nameOf(status.client)}>
      {spec.scopes.map((scope, i) => (
        <Scope
          key={scope}
          id={`${metadata.name}-${i}`}
          scope={scope}
          title={names.scope(scope)}
          isKept={!removed.includes(scope)}
          hint={disclosureHint(
            names,
            status.disclosures.filter((disclosure) => disclosure.scope === scope),
          )}
          keep={(kept) => keep(scope, kept)}
        />
      ))}
      {status.audiences?.map((audience) => (
        <AudienceScopes
          key={audience.name}
          id={metadata.name}
          audience={audience}
          removed={removed}
          keep={keep}
        />
      ))}
    </div>
  );
}

interface AudienceProps extends Pick<ScopesProps, 'removed' | 'keep'> {
  id: string;
  audience: NonNullable<Grant['status']['audiences']>[number];
}

/** The scopes of an Audience under its name, with who runs it. */
function AudienceScopes({ id, audience, removed, keep }: AudienceProps) {
  const { name, operatedBy, scopes } = audience;
  return (
    <>
      <p class="hint">
        <strong>
          <Text of={nameOf(audience)} />
        </strong>
        {operatedBy && (
          <>
            {' · '}
            <Text of={operatedBy} />
          </>
        )}
      </p>
      {scopes.map((scope) => {
        const scopeID = `${name}/${scope.name}`;
        return (
          <Scope
            key={scopeID}
            id={`${id}-${scopeID}`}
            scope={scopeID}
            title={localText(scope.title, scope.titles)}
            isKept={!removed.includes(scopeID)}
            keep={(kept) => keep(scopeID, kept)}
          />
        );
      })}
    </>
  );
}

/** What was shared with scopes that the person has removed since. */
function FormerDisclosures({ grant: { spec, status } }: { grant: Grant }) {
  const { names } = useAccountContext();
  return (
    <>
      {status.disclosures
        .filter(({ scope }) => !spec.scopes.includes(scope))
        .map((disclosure) => (
          <p class="hint">
            {format('grants.former', {
              scope: names.scope(disclosure.scope),
              sent: <>{disclosureText(names, disclosure)}</>,
            })}
          </p>
        ))}
    </>
  );
}

/** Returns the scopes of a grant, those of Audiences as `<audience>/<scope>`. */
const scopeIDsOf = ({ scopes, audiences = [] }: Grant['spec']): string[] => [
  ...scopes,
  ...audiences.flatMap(({ name, scopes: own }) => own.map((scope) => `${name}/${scope}`)),
];

/** Removes scopes from a grant. Returns true if that succeeded. */
function removeScopes(
  act: Request,
  { metadata: { name }, spec }: Grant,
  leaving: readonly string[],
  grants: LiveCollection<Grant>,
): Promise<boolean> {
  const isKept = (scope: string): boolean => !leaving.includes(scope);
  const audiences = spec.audiences
    ?.map((audience) => ({
      name: audience.name,
      scopes: audience.scopes.filter((scope) => isKept(`${audience.name}/${scope}`)),
    }))
    .filter((audience) => audience.scopes.length > 0);
  const body = { spec: { scopes: spec.scopes.filter(isKept), audiences } };
  return act.run(async () => grants.upsert(await call<Grant>('PATCH', `grants/${name}`, body)));
}

/** Removes a grant. */
async function remove(
  act: Request,
  { metadata: { name }, status }: Grant,
  grants: LiveCollection<Grant>,
): Promise<void> {
  const removed = await act.run(() => call('DELETE', `grants/${name}`));
  if (!removed) return;
  grants.remove(name);
  announce(t('grants.removed', { client: nameOf(status.client) }));
  focusSection('grants');
}

/** One app: what it may see scope by scope, what was shared, and how to reduce or remove that. */
export function GrantRow({ grant, grants }: { grant: Grant; grants: LiveCollection<Grant> }) {
  const [dropped, setDropped] = useState<readonly string[]>([]);
  const [removing, setRemoving] = useState(false);
  const act = useAction();
  const place = useRef<HTMLLIElement>(null);
  const client = nameOf(grant.status.client);
  const removed = scopeIDsOf(grant.spec).filter((scope) => dropped.includes(scope));
  const { declaredName } = grant.status.client;
  const back = (): void => {
    act.clear();
    setDropped([]);
    setRemoving(false);
    requestAnimationFrame(() =>
      place.current?.querySelector<HTMLElement>('button, input:enabled')?.focus(),
    );
  };
  const confirm = async (): Promise<void> => {
    if (!(await removeScopes(act, grant, removed, grants))) return;
    back();
    announce(t('grants.made', { client }));
  };
  const keep = (scope: string, kept: boolean): void => {
    setRemoving(false);
    setDropped(kept ? dropped.filter((name) => name !== scope) : [...dropped, scope]);
  };
  return (
    <li class="thing" ref={place}>
      <div class="party">
        <Monogram name={client} />
        <h3>
          <Text of={client} />
        </h3>
      </div>
      {declaredName && <p class="hint">{format('grants.declared', { name: declaredName })}</p>}
      <GrantTimes status={grant.status} />
      <Scopes grant={grant} removed={removed} keep={keep} />
      <FormerDisclosures grant={grant} />
      {/* The focus stays on the unchecked box, so that more can be unchecked. */}
      {removed.length > 0 && (
        <Confirm keepFocus action={act} onConfirm={confirm} onCancel={back}>
          <p>{format('grants.smaller', { count: removed.length, client })}</p>
        </Confirm>
      )}
      {removed.length === 0 && !removing && (
        <p class="actions">
          <Button variant="small" onPress={() => setRemoving(true)}>
            {format('grants.remove', {
              client: <VisuallyHidden>{client}</VisuallyHidden>,
            })}
          </Button>
        </p>
      )}
      {removed.length === 0 && removing && (
        <Confirm action={act} onConfirm={() => remove(act, grant, grants)} onCancel={back}>
          <p>{format('grants.remove.ask', { client })}</p>
        </Confirm>
      )}
    </li>
  );
}
