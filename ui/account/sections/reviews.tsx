import { useEffect, useState } from 'preact/hooks';
import type { ClaimsProviderList, ClaimsReview } from '../../api.js';
import { call, ApiError } from '../../base/api/api.js';
import { readAll } from '../../base/api/collection.js';
import { nameOf } from '../../base/text/local-text.js';
import { Text, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { joinList } from '../../decisions/words.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';
import { Section, ReadError } from '../base/section.js';

/** The number of requests shown. */
const max = 10;

const newestFirst = (all: readonly ClaimsReview[]): ClaimsReview[] =>
  [...all].sort((a, b) => b.status.timestamp.localeCompare(a.status.timestamp));

type Providers = ReadonlyMap<string, ClaimsProviderList['items'][number]['spec']>;

/** Returns the specs of claims providers. */
function useProviders(): Providers {
  const [providers, set] = useState<Providers>(new Map());
  useEffect(() => {
    call<ClaimsProviderList>('GET', 'claimsproviders').then(
      ({ items }) => set(new Map(items.map(({ metadata, spec }) => [metadata.name, spec]))),
      () => undefined,
    );
  }, []);
  return providers;
}

function Row({
  review: { spec, status },
  providers,
}: {
  review: ClaimsReview;
  providers: Providers;
}) {
  const { names } = useAccountContext();
  const provider = providers.get(spec.provider);
  const scopes = joinList(spec.scopes.map((scope) => <Text of={names.scope(scope)} />));
  return (
    <li class="thing short">
      <p class="asked">
        <span>
          {format('reviews.what', {
            provider: provider ? nameOf(provider) : spec.provider,
            scopes: <>{scopes}</>,
            client: names.client(spec.client),
          })}
        </span>{' '}
        <span class={`word ${status.outcome === 'Answered' ? 'allowed' : 'sensitive'}`}>
          {t(`reviews.${status.outcome}`)}
        </span>
      </p>
      <p class="hint">
        <Timestamp of={status.timestamp} />, {t(`reviews.${spec.purpose}`)}
      </p>
    </li>
  );
}

/** The newest requests to claims providers about the person. Not updated while the page is open. */
export function Reviews() {
  const { account, isLive, names } = useAccountContext();
  const [read, setItems] = useState<readonly ClaimsReview[]>();
  const [failure, setFailure] = useState<ApiError>();
  const [turn, setTurn] = useState(0);
  const items = names.isKnown ? read : undefined;
  const providers = useProviders();
  useEffect(() => {
    if (!isLive) return;
    readAll<ClaimsReview>('claimsreviews', ownedBy(account, 'spec.account')).then(
      ({ objects: held }) => {
        setItems(newestFirst([...held.values()]));
        setFailure(undefined);
      },
      (thrown: unknown) => {
        if (thrown instanceof ApiError) setFailure(thrown);
        else throw thrown;
      },
    );
  }, [account.metadata.name, isLive, turn]);
  return (
    <Section id="reviews" hint="reviews.hint">
      {failure && <ReadError failure={failure} again={() => setTurn(turn + 1)} />}
      {!failure && !items && (
        <p class="hint" aria-busy="true">
          {t('working')}
        </p>
      )}
      {items?.length === 0 && <p class="lead">{t('reviews.none')}</p>}
      {items && items.length > max && <p class="hint">{t('reviews.some', { count: max })}</p>}
      {items && items.length > 0 && (
        <ul class="things" aria-label={t('reviews.list')}>
          {items.slice(0, max).map((review) => (
            <Row key={review.metadata.name} review={review} providers={providers} />
          ))}
        </ul>
      )}
    </Section>
  );
}
