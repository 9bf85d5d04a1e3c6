import type { Call } from '../../registry/kind.js';
import { conflict, expired, notFound, type StatusError } from '../../registry/status.js';
import { naming } from '../signin/interaction-naming.js';
import { endOf, type InteractionObject } from './schema.js';

/** What is judged of a call here. */
type Judged = Pick<Call, 'now' | 'settings'>;

/**
 * 404 for one that a restored backup brought back: no code, link or cookie of it opens anything.
 */
export function assertCurrentEpoch(
  { internal, metadata }: InteractionObject,
  { settings }: Pick<Call, 'settings'>,
): void {
  if (internal.epoch < settings.epoch) throw notFound(naming, metadata.name);
}

/** 410 over its time. */
export function assertNotExpired(interaction: InteractionObject, call: Judged): void {
  assertCurrentEpoch(interaction, call);
  if (call.now > endOf(interaction.internal))
    throw expired('this sign-in is over its time', naming, interaction.metadata.name);
  const { created, touched = created } = interaction.internal;
  const isIdle =
    interaction.status.phase === 'LoginRequired' &&
    call.now > touched + call.settings.limits.signInIdle;
  if (isIdle)
    throw expired('this sign-in was left alone for too long', naming, interaction.metadata.name);
}

/** 409: an action in the wrong phase changes nothing. */
export const wrongPhase = ({ metadata, status }: InteractionObject): StatusError =>
  conflict(naming, metadata.name, `it is in phase ${status.phase}`);

/**
 * 409 once returnTo was followed: from then on the session speaks for the person, and this record
 * is history.
 */
export function assertNotFollowed(interaction: InteractionObject): void {
  if (interaction.internal.returnTo === undefined)
    throw conflict(naming, interaction.metadata.name, 'the interaction has already been completed');
}

/** 410 over its time, 409 in any other phase. */
export function assertPhase(
  phase: InteractionObject['status']['phase'],
  interaction: InteractionObject,
  call: Judged,
): void {
  assertNotExpired(interaction, call);
  if (interaction.status.phase !== phase) throw wrongPhase(interaction);
}
