import { randomUUID } from 'node:crypto';
import { formerVersion, group } from '../../kinds/api-version.js';
import { availabilityOf, recordAvailability } from '../../kinds/apps/claims/claims-provider.js';
import {
  ClaimsReview,
  retentionMs,
  reviewCountKey,
} from '../../kinds/apps/claims/claims-review.js';
import type { ClaimsProviderObject } from '../../kinds/apps/claims/scope-index.js';
import type { Scope } from '../../kinds/apps/claims/scopes.js';
import { Account } from '../../kinds/people/account/account.js';
import { withSpan } from '../../observability/tracer.js';
import { objectKey } from '../../registry/encoded-object.js';
import type { ObjectOf } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { countOwned } from '../../registry/store/owned-count.js';
import { randomName } from '../../registry/store/random-name.js';
import { BoundedMap } from '../../security/bounded-map.js';
import { prefixRange } from '../../storage/storage.js';
import { signJwt } from '../adapter/signing-keys.js';
import type { ClaimsServices, ProviderServices } from '../context/context.js';
import { EgressRefusedError } from '../context/egress-fetch.js';
import type { ClaimsReviewRequest, ReviewedClaims } from '../context/review.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { parseReviewResponse, type ReviewSpec, type SuppliedClaims } from './parse-response.js';
import { ResponseCache } from './response-cache.js';

type Outcome = ObjectOf<typeof ClaimsReview>['status']['outcome'];

type Services = Pick<ProviderServices, 'store' | 'settings' | 'secrets' | 'runtime' | 'policy'> & {
  readonly claims: Omit<ClaimsServices, 'reviews'>;
};

const deadlineMs = 2_500;

/** The version of reviews; services that were written for it go on (docs/design/versions.md#reviews). */
const reviewVersion = `${group}/${formerVersion}`;

/** A refusal is recorded once in this time for a person, a Client and a provider. */
const sameRefusalMs = 60_000;

/** The number of refusals that are remembered for this. */
const maxRefusals = 20_000;

/**
 * Status codes that concern the provider, not the person; other 4xx responses do not count as
 * failures for the circuit breaker.
 */
const busyStatuses = new Set([408, 429]);

/**
 * Requests claims from claims providers: in parallel with a common deadline, each behind a circuit
 * breaker, cached for a minute (docs/design/api.md#claims-reviews).
 */
export class ClaimsReviewClient {
  readonly #services: Services;
  readonly #breaker = new CircuitBreaker();
  readonly #cache = new ResponseCache<SuppliedClaims>();
  /** When each refusal was recorded, in milliseconds since the epoch. */
  readonly #refusedAt = new BoundedMap<string, number>(maxRefusals);

  constructor(services: Services) {
    this.#services = services;
  }

  /** Returns the values of the scopes; never throws. */
  async requestClaims(request: ClaimsReviewRequest): Promise<ReviewedClaims> {
    const byProvider = groupByProvider(request.scopes);
    const end = AbortSignal.timeout(deadlineMs);
    const parts = await Promise.all(
      [...byProvider].map(([name, scopes]) =>
        this.#cachedReview(name, { ...request, scopes }, end),
      ),
    );
    const supplied = new Map(parts.flatMap((part) => [...(part ?? [])]));
    return new Map(request.scopes.map(({ name }) => [name, supplied.get(name)]));
  }

  async #cachedReview(
    name: string,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<SuppliedClaims | undefined> {
    const provider = this.#services.claims.scopeIndex.provider(name);
    if (!provider?.spec.reviewURI) return undefined;
    const key = JSON.stringify([
      asking.account,
      asking.client,
      name,
      versionOf(provider),
      asking.decision,
    ]);
    return this.#cache.get(
      key,
      asking.scopes.map((scope) => scope.name),
      () => this.#review(provider, asking, end),
    );
  }

  /** Runs one review. It is recorded in the background. */
  async #review(
    provider: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<SuppliedClaims | undefined> {
    const { name } = provider.metadata;
    const begun = performance.now();
    const { outcome, supplied } = this.#breaker.enter(name, versionOf(provider))
      ? await this.#throughBreaker(provider, asking, end)
      : { outcome: 'Refused' as const, supplied: undefined };
    const claims = [...(supplied?.values() ?? [])].flatMap((values) => Object.keys(values));
    this.#services.runtime.metrics?.claimsReviews.inc({ outcome });
    this.#services.runtime.runInBackground(() =>
      this.#record(name, asking, {
        outcome,
        claims,
        durationMilliseconds: Math.round(performance.now() - begun),
        timestamp: toTimestamp(Date.now()),
      }),
    );
    return supplied;
  }

  async #throughBreaker(
    provider: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<{ outcome: Outcome; supplied: SuppliedClaims | undefined }> {
    const result = await withSpan(
      'claims review',
      () => this.#call(provider, asking, end),
      ({ outcome }) => ({ 'vestibule.outcome': outcome }),
    );
    const isUp = result.outcome === 'Answered' || result.isUp === true;
    const breaker = this.#breaker.leave(provider.metadata.name, versionOf(provider), isUp);
    if (isUp || breaker === 'Open') this.#noteAvailability(provider, isUp);
    return result;
  }

  /** Updates the condition Available of a provider in the background, if it differs. */
  #noteAvailability(provider: ClaimsProviderObject, isUp: boolean): void {
    if (availabilityOf(provider) === (isUp ? 'True' : 'False')) return;
    const { store, runtime } = this.#services;
    runtime.runInBackground(() => {
      const call = store.systemCall();
      return call.change((tx) => recordAvailability(tx, provider, isUp, call.now));
    });
  }

  async #call(
    { metadata, spec }: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<{ outcome: Outcome; supplied: SuppliedClaims | undefined; isUp?: boolean }> {
    const url = spec.reviewURI!;
    const over = AbortSignal.any([end, AbortSignal.timeout(spec.timeoutMilliseconds)]);
    const begun = performance.now();
    const review = reviewOf(metadata.name, asking);
    try {
      const { status, body } = await this.#services.claims.fetch(url, {
        method: 'POST',
        signal: over,
        body: JSON.stringify({ apiVersion: reviewVersion, kind: 'ClaimsReview', spec: review }),
        ...(spec.caBundle && { ca: spec.caBundle }),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${this.#token(url, asking.account)}`,
        },
      });
      const supplied =
        status === 200 || status === 201
          ? parseReviewResponse(body, review, asking.scopes)
          : undefined;
      return {
        outcome: supplied ? 'Answered' : 'Failed',
        supplied,
        isUp: status >= 400 && status < 500 && !busyStatuses.has(status),
      };
    } catch (error) {
      const late =
        over.aborted ||
        performance.now() - begun >= Math.min(spec.timeoutMilliseconds, deadlineMs) - 20;
      return { outcome: failureOutcome(error, late), supplied: undefined };
    }
  }

  /**
   * Returns a bearer token that proves this service as the caller, for one provider and one person,
   * for a minute.
   */
  #token(url: string, account: string): string {
    return signJwt(
      this.#services.secrets.keys,
      {
        iss: this.#services.settings.baseURL,
        aud: url,
        sub: account,
        exp: Math.floor(Date.now() / 1000) + 60,
        jti: randomUUID(),
      },
      'claims-review+jwt',
    );
  }

  /**
   * Records a review, except the same refusal once more: no request precedes a refusal, so a person
   * could have one recorded with each of theirs.
   */
  async #record(
    provider: string,
    { account, client, scopes, purpose }: ClaimsReviewRequest,
    status: ObjectOf<typeof ClaimsReview>['status'],
  ): Promise<void> {
    if (status.outcome === 'Refused') {
      const refusal = JSON.stringify([account, client, provider, purpose]);
      if (Date.now() - (this.#refusedAt.get(refusal) ?? 0) < sameRefusalMs) return;
      this.#refusedAt.set(refusal, Date.now());
    }
    const { store } = this.#services;
    await store.change(store.systemCall(), async (tx) => {
      if (!(await tx.get(Account, account))) return;
      await tx.create(ClaimsReview, {
        metadata: { name: `${account}-${randomName(12)}` },
        spec: { account, client, provider, scopes: scopes.map(({ name }) => name), purpose },
        status,
      });
      await countOwned(tx, store.storage, {
        range: prefixRange(objectKey(ClaimsReview, `${account}-`)),
        countKey: reviewCountKey(account),
        max: store.settings.limits.reviewsPerAccount,
        retentionMs,
      });
    });
  }
}

/** Returns the outcome of a failed call; `isLate` if its deadline has passed. */
function failureOutcome(error: unknown, isLate: boolean): Outcome {
  if (error instanceof EgressRefusedError) return 'Refused';
  return isLate ? 'TimedOut' : 'Failed';
}

/** Returns the spec of the review; it identifies the person by the Account name only. */
const reviewOf = (
  provider: string,
  { account, client, scopes, purpose }: ClaimsReviewRequest,
): ReviewSpec => ({
  account,
  client,
  provider,
  scopes: scopes.map(({ name }) => name),
  purpose,
});

const versionOf = ({ metadata }: ClaimsProviderObject): string =>
  `${metadata.uid} ${metadata.generation}`;

function groupByProvider(scopes: readonly Scope[]): Map<string, Scope[]> {
  const groups = new Map<string, Scope[]>();
  for (const scope of scopes) {
    groups.set(scope.provider.name, [...(groups.get(scope.provider.name) ?? []), scope]);
  }
  return groups;
}
