import { Interaction, type InteractionObject } from '../../kinds/interaction/interaction.js';
import type { Scope } from '../../kinds/claims/scopes.js';
import type { ProviderServices } from '../context/context.js';
import type { Reviewed } from '../context/review.js';

type Shown = NonNullable<InteractionObject['internal']['shown']>;

/**
 * What other services would share at a consent; which claims the person is shown is kept in the
 * Interaction, what they say is not.
 */
export async function preview(
  services: ProviderServices,
  interaction: InteractionObject,
  scopes: readonly Scope[],
): Promise<Reviewed> {
  const { internal, spec } = interaction;
  const reviewed = await services.reviews.ask({
    account: internal.account!,
    client: spec.client,
    purpose: 'Preview',
    decision: 'preview',
    scopes,
  });
  const news = (held: Shown | undefined): Shown => merged(held, scopes, reviewed);
  if (JSON.stringify(news(internal.shown)) !== JSON.stringify(internal.shown ?? {}))
    await keep(services, interaction, news);
  return reviewed;
}

async function keep(
  services: ProviderServices,
  interaction: InteractionObject,
  news: (held: Shown | undefined) => Shown,
): Promise<void> {
  const { name } = interaction.metadata;
  const after = await services.store.change(services.store.systemCall(), async (tx) => {
    if ((await tx.get(Interaction, name))?.status.phase !== 'ConsentRequired') return undefined;
    return tx.update(Interaction, name, ({ internal }) => {
      internal.shown = news(internal.shown);
    });
  });
  if (after) interaction.metadata.resourceVersion = after.metadata.resourceVersion;
}

/**
 * Whatever was shown at any time of this sign-in, the names of what is declared where values could
 * not be had; of a scope that someone else supplies by now, what they showed.
 */
function merged(held: Shown = {}, scopes: readonly Scope[], reviewed: Reviewed): Shown {
  const shown = { ...held };
  for (const { name, provider, claims } of scopes) {
    const values = reviewed.get(name);
    const before = shown[name]?.provider === provider.name ? shown[name].claims : [];
    const named = values ? Object.keys(values) : claims.map((claim) => claim.name);
    shown[name] = { provider: provider.name, claims: [...new Set([...before, ...named])].sort() };
  }
  return shown;
}
