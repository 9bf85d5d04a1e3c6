import type { Call } from '../../registry/kind.js';
import { conflict, expired, type StatusError } from '../../registry/status.js';
import { Interaction, interactionLife, type InteractionObject } from './interaction.js';

/** 410 over its hour. */
export function refuseOver({ internal, metadata }: InteractionObject, now: number): void {
  if (now > internal.created + interactionLife) throw expired('this sign-in is over its time', Interaction, metadata.name);
}

/** 409: an action in the wrong phase changes nothing. */
export const wrongPhase = ({ metadata, status }: InteractionObject): StatusError =>
  conflict(Interaction, metadata.name, `it is in phase ${status.phase}`);

/** 409 once returnTo was followed: from then on the session speaks for the person, and this record is history. */
export function refuseFollowed(interaction: InteractionObject): void {
  if (interaction.internal.returnTo === undefined) throw conflict(Interaction, interaction.metadata.name, 'it was followed to its end already');
}

/** 410 over its hour, 409 in any other phase. */
export function refuseUnless(phase: InteractionObject['status']['phase'], interaction: InteractionObject, call: Pick<Call, 'now'>): void {
  refuseOver(interaction, call.now);
  if (interaction.status.phase !== phase) throw wrongPhase(interaction);
}
