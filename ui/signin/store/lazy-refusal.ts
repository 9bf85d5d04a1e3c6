import { addMessages } from '../../base/text/i18n.js';
import { Lazy } from '../../base/api/lazy.js';

/** Adds the messages of a chunk that was loaded. */
export function withMessages<T extends { messages: Parameters<typeof addMessages>[0] }>(
  part: T,
): T {
  addMessages(part.messages);
  return part;
}

/** The rows of the decision behind a refusal, loaded when policy refuses. */
export const refusalChunk = new Lazy(() => import('./refusal-facts.js').then(withMessages));
