import type { EventSubject } from '../../registry/event-source.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import type { Query } from '../codec/query.js';
import { parseSelector } from '../codec/selectors.js';

/** The parts of an Event that selectors name. */
interface SelectableEvent {
  readonly metadata: { readonly name: string };
  readonly involvedObject: Readonly<Record<string, string>>;
}

/** Which events a request selects. */
export interface EventSelector {
  /** What all of them are about, as far as the request says so. */
  readonly about: Partial<EventSubject>;
  /** Reports whether what an event is about is selected, which its key shows. */
  matchesKey(subject: EventSubject, name: string): boolean;
  matches(event: object): boolean;
}

const ofObject = (field: string) => (event: unknown) =>
  (event as SelectableEvent).involvedObject[field];
const ofEvent = (field: string) => (event: unknown) =>
  (event as Readonly<Record<string, unknown>>)[field];

/** The fields by which Kubernetes selects events. */
const kind = {
  kind: 'Event',
  resource: 'events',
  group: '',
  unique: {},
  selectableFields: {
    ...Object.fromEntries(
      ['kind', 'name', 'namespace', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
        `involvedObject.${field}`,
        ofObject(field),
      ]),
    ),
    'metadata.namespace': () => 'default',
    reason: ofEvent('reason'),
    type: ofEvent('type'),
    source: ofEvent('reportingComponent'),
    reportingComponent: ofEvent('reportingComponent'),
  },
} as unknown as AnyKind;

const inKey = /^\s*(involvedObject\.(kind|name)|metadata\.name)\s*[=!]/;
const equality = /^\s*involvedObject\.(kind|name)\s*==?\s*([A-Za-z0-9.-]{1,253})\s*$/;

/** Parses the selectors of events as Kubernetes does; 400 for a field that no event is selected by. */
export function parseEventSelector(query: Query): EventSelector {
  // Events do not have the uid that kubectl names beside kind and name.
  const parts = (query.get('fieldSelector') ?? '')
    .split(',')
    .filter((part) => !/^\s*involvedObject\.uid\s*==?/.test(part));
  const selectorOf = (chosen: readonly string[], labels = '') =>
    parseSelector(
      new Map([
        ['fieldSelector', chosen.join(',')],
        ['labelSelector', labels],
      ]),
      kind,
    );
  const byKey = selectorOf(parts.filter((part) => inKey.test(part)));
  const everyPart = selectorOf(parts, query.get('labelSelector') ?? '');
  return {
    about: Object.fromEntries(
      parts.flatMap((part) => {
        const [, field, value] = equality.exec(part) ?? [];
        return field === undefined ? [] : [[field, value]];
      }),
    ),
    matchesKey: (involvedObject, name) =>
      byKey.matches({ metadata: { name }, involvedObject } as unknown as KindObject),
    matches: (event) => everyPart.matches(event as KindObject),
  };
}
