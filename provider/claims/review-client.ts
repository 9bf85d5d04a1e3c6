import { randomUUID } from 'node:crypto';
import { Account } from '../../kinds/account/account.js';
import { ClaimsReview } from '../../kinds/claims/claims-review.js';
import type { Scope } from '../../kinds/claims/scopes.js';
import type { ClaimsProviderObject } from '../../kinds/claims/scope-index.js';
import { apiVersion, type ObjectOf } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { withSpan } from '../../observability/tracer.js';
import { randomName } from '../../registry/transaction.js';
import { Answers } from './response-cache.js';
import { Breaker } from './circuit-breaker.js';
import { EgressRefusedError } from '../context/egress-fetch.js';
import type { ProviderServices } from '../context/context.js';
import { signJwt } from '../adapter/signing-keys.js';
import type { ClaimsReviewRequest, Reviewed } from '../context/review.js';
import { readAnswer, type Review, type Supplied } from './parse-response.js';

type Outcome = ObjectOf<typeof ClaimsReview>['status']['outcome'];

const deadline = 2_500;

/**
 * Refusals that say something of the service, not of the person asked about: others keep no one
 * else from being asked about.
 */
const busy = new Set([408, 429]);

/**
 * Asks the services that supply claims: side by side under one deadline, each through its breaker,
 * answers in memory for a minute (docs/design/api.md#claims-reviews).
 */
export class ClaimsReviewClient {
  readonly #services: Omit<ProviderServices, 'reviews'>;
  readonly #breaker = new Breaker();
  readonly #answers = new Answers<Supplied>();

  constructor(services: Omit<ProviderServices, 'reviews'>) {
    this.#services = services;
  }

  /** What the suppliers of these scopes say; it never fails. */
  async ask(asking: ClaimsReviewRequest): Promise<Reviewed> {
    const byProvider = grouped(asking.scopes);
    const end = AbortSignal.timeout(deadline);
    const parts = await Promise.all(
      [...byProvider].map(([name, scopes]) => this.#held(name, { ...asking, scopes }, end)),
    );
    const supplied = new Map(parts.flatMap((part) => [...(part ?? [])]));
    return new Map(asking.scopes.map(({ name }) => [name, supplied.get(name)]));
  }

  async #held(
    name: string,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<Supplied | undefined> {
    const provider = this.#services.suppliers.named(name);
    if (!provider?.spec.url) return undefined;
    const key = JSON.stringify([
      asking.account,
      asking.client,
      name,
      versionOf(provider),
      asking.decision,
    ]);
    return this.#answers.of(
      key,
      asking.scopes.map((scope) => scope.name),
      () => this.#review(provider, asking, end),
    );
  }

  /** One review, recorded off the path of anyone who waits for it. */
  async #review(
    provider: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<Supplied | undefined> {
    const { name } = provider.metadata;
    const begun = performance.now();
    const { outcome, supplied } = this.#breaker.enter(name, versionOf(provider))
      ? await this.#through(provider, asking, end)
      : { outcome: 'Refused' as const, supplied: undefined };
    const claims = [...(supplied?.values() ?? [])].flatMap((values) => Object.keys(values));
    this.#services.metrics?.claimsReviews.inc({ outcome });
    this.#services.afterwards(() =>
      this.#record(name, asking, {
        outcome,
        claims,
        durationMilliseconds: Math.round(performance.now() - begun),
        timestamp: toTimestamp(Date.now()),
      }),
    );
    return supplied;
  }

  async #through(
    provider: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<{ outcome: Outcome; supplied: Supplied | undefined }> {
    const asked = await withSpan(
      'claims review',
      () => this.#call(provider, asking, end),
      ({ outcome }) => ({ 'vestibule.outcome': outcome }),
    );
    this.#breaker.leave(
      provider.metadata.name,
      versionOf(provider),
      asked.outcome === 'Answered' || asked.isUp === true,
    );
    return asked;
  }

  async #call(
    { metadata, spec }: ClaimsProviderObject,
    asking: ClaimsReviewRequest,
    end: AbortSignal,
  ): Promise<{ outcome: Outcome; supplied: Supplied | undefined; isUp?: boolean }> {
    const url = spec.url!;
    const over = AbortSignal.any([end, AbortSignal.timeout(spec.timeoutMilliseconds)]);
    const begun = performance.now();
    const review = reviewOf(metadata.name, asking);
    try {
      const { status, body } = await this.#services.fetch(url, {
        method: 'POST',
        signal: over,
        body: JSON.stringify({ apiVersion, kind: 'ClaimsReview', spec: review }),
        ...(spec.caBundle && { ca: spec.caBundle }),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${this.#token(url, asking.account)}`,
        },
      });
      const supplied =
        status === 200 || status === 201 ? readAnswer(body, review, asking.scopes) : undefined;
      return {
        outcome: supplied ? 'Answered' : 'Failed',
        supplied,
        isUp: status >= 400 && status < 500 && !busy.has(status),
      };
    } catch (error) {
      const late =
        over.aborted ||
        performance.now() - begun >= Math.min(spec.timeoutMilliseconds, deadline) - 20;
      return { outcome: failureOf(error, late), supplied: undefined };
    }
  }

  /**
   * Says that it is this service that asks, this supplier that is asked, and about whom: once, for
   * a minute.
   */
  #token(url: string, account: string): string {
    return signJwt(
      this.#services.keys,
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

  async #record(
    provider: string,
    { account, client, scopes, purpose }: ClaimsReviewRequest,
    status: ObjectOf<typeof ClaimsReview>['status'],
  ): Promise<void> {
    await this.#services.store.change(this.#services.store.systemCall(), async (tx) => {
      if (!(await tx.get(Account, account))) return;
      await tx.create(ClaimsReview, {
        metadata: { name: `${account}-${randomName(12)}` },
        spec: { account, client, provider, scopes: scopes.map(({ name }) => name), purpose },
        status,
      });
    });
  }
}

/** How a call that gave no answer went; `late` where its time was over. */
function failureOf(error: unknown, late: boolean): Outcome {
  if (error instanceof EgressRefusedError) return 'Refused';
  return late ? 'TimedOut' : 'Failed';
}

/** What is sent: the person is named by their account alone. */
const reviewOf = (
  provider: string,
  { account, client, scopes, purpose }: ClaimsReviewRequest,
): Review => ({
  account,
  client,
  provider,
  scopes: scopes.map(({ name }) => name),
  purpose,
});

const versionOf = ({ metadata }: ClaimsProviderObject): string =>
  `${metadata.uid} ${metadata.generation}`;

function grouped(scopes: readonly Scope[]): Map<string, Scope[]> {
  const groups = new Map<string, Scope[]>();
  for (const scope of scopes)
    groups.set(scope.provider.name, [...(groups.get(scope.provider.name) ?? []), scope]);
  return groups;
}
