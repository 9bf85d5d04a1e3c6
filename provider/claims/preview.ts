import type { Scope } from '../../kinds/apps/claims/scopes.js';
import { Interaction, type InteractionObject } from '../../kinds/interaction/interaction.js';
import type { ProviderServices } from '../context/context.js';
import type { ReviewedClaims } from '../context/review.js';

type ShownClaims = NonNullable<InteractionObject['internal']['shown']>;

/**
 * Returns the values that claims providers would share, for a consent. The Interaction keeps the
 * names of the shown claims, not the values.
 */
export async function preview(
  services: ProviderServices,
  interaction: InteractionObject,
  scopes: readonly Scope[],
): Promise<ReviewedClaims> {
  const { internal, spec } = interaction;
  const reviewed = await services.claims.reviews.requestClaims({
    account: internal.account ?? '',
    client: spec.client,
    purpose: 'Preview',
    decision: 'preview',
    scopes,
  });
  const mergeInto = (shown: ShownClaims | undefined): ShownClaims =>
    mergeShownClaims(shown, scopes, reviewed);
  if (JSON.stringify(mergeInto(internal.shown)) !== JSON.stringify(internal.shown ?? {})) {
    await saveShownClaims(services, interaction, mergeInto);
  }
  return reviewed;
}

async function saveShownClaims(
  services: ProviderServices,
  interaction: InteractionObject,
  mergeInto: (shown: ShownClaims | undefined) => ShownClaims,
): Promise<void> {
  const { name } = interaction.metadata;
  const after = await services.store.change(services.store.systemCall(), async (tx) => {
    if ((await tx.get(Interaction, name))?.status.phase !== 'ConsentRequired') return undefined;
    return tx.update(Interaction, name, ({ internal }) => {
      internal.shown = mergeInto(internal.shown);
    });
  });
  if (after) interaction.metadata.resourceVersion = after.metadata.resourceVersion;
}

/**
 * Returns the names of all claims shown during this sign-in; the declared names if values could not
 * be fetched. If another provider supplies a scope now, only its claims count.
 */
function mergeShownClaims(
  previous: ShownClaims = {},
  scopes: readonly Scope[],
  reviewed: ReviewedClaims,
): ShownClaims {
  const shown = { ...previous };
  for (const { name, provider, claims } of scopes) {
    const values = reviewed.get(name);
    const before = shown[name]?.provider === provider.name ? shown[name].claims : [];
    const names = values ? Object.keys(values) : claims.map((claim) => claim.name);
    shown[name] = { provider: provider.name, claims: [...new Set([...before, ...names])].sort() };
  }
  return shown;
}
