import type { ClaimPreview, ConsentScope } from '../api.js';
import { locale } from '../base/i18n.js';
import { truncate, t, format } from '../base/message.js';

function valueText({ claim, value }: ClaimPreview): string {
  if (claim === 'updated_at') return new Date(Number(value) * 1000).toLocaleDateString(locale());
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (Array.isArray(value))
    return new Intl.ListFormat(locale(), { type: 'unit' }).format(value.map(String));
  return String(value);
}

function Values({ id, scope }: { id: string; scope: ConsentScope }) {
  if (scope.previewUnavailable)
    return (
      <div class="values" id={id}>
        <p>{t('consent.unavailable')}</p>
        <ul>
          {scope.claims?.map(({ title }) => (
            <li>
              <bdi>{truncate(title)}</bdi>
            </li>
          ))}
        </ul>
      </div>
    );
  if (scope.permissions)
    return (
      <ul class="values" id={id}>
        {scope.permissions.map((one) => (
          <li>{one}</li>
        ))}
      </ul>
    );
  if (!scope.preview.length)
    return (
      <p class="values hint" id={id}>
        {t('consent.novalue')}
      </p>
    );
  return (
    <dl class="values" id={id}>
      {scope.preview.map((one) => (
        <div>
          <dt>
            <bdi>{truncate(one.title)}</bdi>
          </dt>
          <dd>
            <bdi>{truncate(valueText(one), 500)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const badges = (scope: ConsentScope): [string, string][] => [
  ...(scope.required && scope.allowed
    ? [['required', t('consent.required')] as [string, string]]
    : []),
  ...(scope.sensitive ? [['sensitive', t('consent.sensitive')] as [string, string]] : []),
  ...(scope.granted && !scope.required && scope.allowed
    ? [['before', t('consent.before')] as [string, string]]
    : []),
  ...(scope.allowed ? [] : [['refused', t('consent.refused')] as [string, string]]),
];

interface Props {
  scope: ConsentScope;
  chosen: boolean;
  error: string | undefined;
  choose: (chosen: boolean) => void;
}

/** One scope: its description, its provider and the values that would be shared. */
export function ScopeRow({ scope, chosen, error, choose }: Props) {
  const id = `scope-${scope.name}`;
  return (
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
        checked={chosen}
        disabled={scope.required || !scope.allowed}
        aria-describedby={`${id}-words ${id}-what`}
        onChange={(event) => choose(event.currentTarget.checked)}
      />
      <label for={`${id}-box`} id={`${id}-title`}>
        <bdi>{truncate(scope.title)}</bdi>
      </label>
      <p class="words" id={`${id}-words`}>
        {badges(scope).map(([look, word]) => (
          <span key={look} class={`word ${look}`}>
            {word}
          </span>
        ))}
      </p>
      <div class="what" id={`${id}-what`}>
        <p class="hint">
          <bdi>{truncate(scope.description, 500)}</bdi>
        </p>
        <p class="hint">{format('consent.from', { provider: scope.provider.displayName })}</p>
        {!scope.allowed && scope.reason && (
          <p class="reason">
            {format('consent.refused.why', {
              reason: (
                <q>
                  <bdi>{truncate(scope.reason, 500)}</bdi>
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
      {scope.allowed && <Values id={`${id}-values`} scope={scope} />}
    </div>
  );
}
