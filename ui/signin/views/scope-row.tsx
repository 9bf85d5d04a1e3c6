import type { ClaimPreview, ConsentScope } from '../../api.js';
import { useAppearance } from '../../base/api/appearance.js';
import { locale } from '../../base/text/i18n.js';
import {
  claimTitle,
  localText,
  nameOf,
  permissionText,
  providerName,
  scopeDescription,
  scopeTitle,
} from '../../base/text/local-text.js';
import { Text, t, format } from '../../base/text/message.js';

function valueText({ claim, value }: ClaimPreview): string {
  if (claim === 'updated_at') return new Date(Number(value) * 1000).toLocaleDateString(locale());
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (Array.isArray(value)) return new Intl.ListFormat(locale(), { type: 'unit' }).format(value);
  return String(value);
}

function Values({ id, scope, chosenNames }: { id: string } & Pick<Props, 'scope' | 'chosenNames'>) {
  if (scope.previewUnavailable) {
    return (
      <div class="values" id={id}>
        <p>{t('consent.unavailable')}</p>
        <ul>
          {scope.claims?.map((claim) => (
            <li>
              <Text of={claimTitle(scope.provider.name, claim)} />
            </li>
          ))}
        </ul>
      </div>
    );
  }
  if (scope.permissions) {
    return (
      <ul class="values" id={id}>
        {scope.permissions.map((permission, i) => (
          <li>{permissionText(scope.name, i, permission)}</li>
        ))}
      </ul>
    );
  }
  const preview = scope.preview.filter(
    ({ withScope }) => !withScope || chosenNames.includes(withScope),
  );
  if (!preview.length) {
    return (
      <p class="values hint" id={id}>
        {t('consent.novalue')}
      </p>
    );
  }
  return (
    <dl class="values" id={id}>
      {preview.map((value) => (
        <div>
          <dt>
            <Text of={claimTitle(scope.provider.name, value)} />
          </dt>
          <dd>
            <Text of={valueText(value)} max={500} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const badges = ({ required, allowed, sensitive, granted }: ConsentScope) =>
  [
    required && allowed && ('required' as const),
    sensitive && ('sensitive' as const),
    granted && !required && allowed && ('before' as const),
    !allowed && ('refused' as const),
  ].filter((badge) => !!badge);

interface Props {
  scope: ConsentScope;
  /** The scope above it. */
  before: ConsentScope | undefined;
  /** The scopes that are selected, by name. */
  chosenNames: readonly string[];
  error: string | undefined;
  choose: (chosen: boolean) => void;
}

/** What an app does with a scope, who supplies it, and why it is refused. */
function What({ id, scope, error }: { id: string } & Pick<Props, 'scope' | 'error'>) {
  const { provider } = scope;
  const { displayName } = useAppearance();
  return (
    <div class="what" id={`${id}-what`}>
      <p class="hint">
        <Text of={scopeDescription(provider.name, scope)} max={500} />
      </p>
      <p class="hint">
        {format('consent.from', { provider: providerName(provider, displayName) })}
      </p>
      {!scope.allowed && scope.reason && (
        <p class="reason">
          {format('consent.refused.why', {
            reason: (
              <q>
                <Text of={localText(scope.reason, scope.reasons)} max={500} />
              </q>
            ),
          })}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** One scope: its description, its provider and the values that would be shared. */
export function ScopeRow({ scope, before, chosenNames, error, choose }: Props) {
  const { name, provider, audience } = scope;
  const id = `scope-${name}`;
  return (
    <>
      {audience && audience.name !== before?.audience?.name && (
        <h2>
          <Text of={nameOf(audience)} />
        </h2>
      )}
      <div
        role="group"
        class="scope"
        id={id}
        tabIndex={-1}
        data-off={scope.allowed ? undefined : true}
        aria-labelledby={`${id}-title`}
        aria-describedby={`${error ? `${id}-error ` : ''}${id}-values`}
      >
        <input
          type="checkbox"
          id={`${id}-box`}
          checked={chosenNames.includes(name)}
          disabled={scope.required || !scope.allowed}
          aria-describedby={`${id}-words ${id}-what`}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
        <label for={`${id}-box`} id={`${id}-title`}>
          <Text of={scopeTitle(provider.name, scope)} />
        </label>
        <p class="words" id={`${id}-words`}>
          {badges(scope).map((badge) => (
            <span class={`word ${badge}`}>{t(`consent.${badge}`)}</span>
          ))}
        </p>
        <What id={id} scope={scope} error={error} />
        {scope.allowed && !audience && (
          <Values id={`${id}-values`} scope={scope} chosenNames={chosenNames} />
        )}
      </div>
    </>
  );
}
