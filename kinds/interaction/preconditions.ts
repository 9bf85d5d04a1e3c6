import type { Call } from '../../registry/kind.js';
import { conflict, expired, notFound, type StatusError } from '../../registry/status/status.js';
import { naming } from '../signin/interaction-naming.js';
import type { InteractionObject } from './schema.js';

/** The parts of a call that the preconditions depend on. */
type PreconditionContext = Pick<Call, 'now' | 'settings'>;

/**
 * Throws 404 for an Interaction that a restored backup brought back: its codes, links and cookies
 * are invalid.
 */
export function assertCurrentEpoch(
  { internal, metadata }: InteractionObject,
  { settings }: Pick<Call, 'settings'>,
): void {
  if (internal.epoch < settings.epoch) throw notFound(naming, metadata.name);
}

/** Throws 410 if the sign-in has expired or was idle for too long. */
export function assertNotExpired(interaction: InteractionObject, call: PreconditionContext): void {
  assertCurrentEpoch(interaction, call);
  if (call.now > interaction.internal.ends) {
    throw expired('this sign-in has expired', naming, interaction.metadata.name);
  }
  const { created, touched = created } = interaction.internal;
  const isIdle =
    interaction.status.phase === 'LoginRequired' &&
    call.now > touched + call.settings.limits.signInIdle;
  if (isIdle) {
    throw expired('this sign-in was idle for too long', naming, interaction.metadata.name);
  }
}

/** Returns the 409 for an action in the wrong phase. */
export const wrongPhase = ({ metadata, status }: InteractionObject): StatusError =>
  conflict(naming, metadata.name, `it is in phase ${status.phase}`);

/** Throws 409 after returnTo was followed: the session authenticates the person from then on. */
export function assertNotFollowed(interaction: InteractionObject): void {
  if (interaction.internal.returnTo === undefined) {
    throw conflict(naming, interaction.metadata.name, 'the interaction has already been completed');
  }
}

/** Throws 410 if the sign-in has expired, 409 in any other phase. */
export function assertPhase(
  phase: InteractionObject['status']['phase'],
  interaction: InteractionObject,
  call: PreconditionContext,
): void {
  assertNotExpired(interaction, call);
  if (interaction.status.phase !== phase) throw wrongPhase(interaction);
}
