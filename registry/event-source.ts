import { prefixRange, type Range } from '../storage/storage.js';

/** The object that an event is about. */
export interface EventSubject {
  readonly kind: string;
  readonly name: string;
}

/** What an event says (Kubernetes core/v1 Event). */
export interface EventContent {
  /** The reason as an identifier. */
  readonly reason: string;
  readonly message: string;
  readonly type: 'Normal' | 'Warning';
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** How objects of a kind are read as events about other objects, as `kubectl describe` shows them. */
export interface EventSource<O> {
  /** Returns what the object is about; undefined if it is no event. */
  subject(object: O): EventSubject | undefined;
  content(object: O): EventContent;
}

const prefixOf = ({ kind, name }: EventSubject): string => `events/${kind}/${name}/`;

/**
 * Returns the key under which an event about an object is found; its value is the name of the event.
 * Events are listed in the order of `id`.
 */
export const eventKey = (subject: EventSubject, id: string): string => prefixOf(subject) + id;

/** Returns the `id` in the key of an event, by which the newest comes first. */
export const idOfEvent = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** Returns what the event under a key is about. */
export function subjectOfKey(key: string): EventSubject {
  const [, kind = '', name = ''] = key.split('/');
  return { kind, name };
}

/** Returns the range of the events about an object, about those of a kind, or about any. */
export const eventRange = ({ kind, name }: Partial<EventSubject>): Range => {
  if (kind === undefined) return prefixRange('events/');
  return prefixRange(name === undefined ? `events/${kind}/` : prefixOf({ kind, name }));
};
