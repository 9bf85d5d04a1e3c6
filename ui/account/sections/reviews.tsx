import type { ClaimsProvider, ClaimsReview } from '../../api.js';
import { readItems } from '../../base/api/api.js';
import { readAll } from '../../base/api/collection.js';
import { nameOf } from '../../base/text/local-text.js';
import { Text, t, format } from '../../base/text/message.js';
import { Timestamp } from '../../base/text/timestamp.js';
import { useRead } from '../../base/api/use-read.js';
import { joinList } from '../../decisions/words.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';
import { Section, ReadError } from '../base/section.js';

/** The number of requests shown. */
const max = 10;

const newestFirst = (reviews: readonly ClaimsReview[]): ClaimsReview[] =>
  [...reviews].sort((a, b) => b.status.timestamp.localeCompare(a.status.timestamp));

interface RowProps {
  review: ClaimsReview;
  providers: readonly ClaimsProvider[];
}

function Row({ review: { spec, status }, providers }: RowProps) {
  const { names } = useAccountContext();
  const provider = providers.find(({ metadata }) => metadata.name === spec.provider)?.spec;
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
  const { value, failure, reload } = useRead(
    isLive
      ? () => readAll<ClaimsReview>('claimsreviews', ownedBy(account, 'spec.account'))
      : undefined,
    [account.metadata.name, isLive],
  );
  const { value: providers = [] } = useRead(() => readItems<ClaimsProvider>('claimsproviders'), []);
  const items = names.isKnown && value ? newestFirst(value.items) : undefined;
  return (
    <Section id="reviews" hint="reviews.hint">
      {failure && <ReadError failure={failure} again={reload} />}
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
