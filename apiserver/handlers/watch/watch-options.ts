import type { KindObject } from '../../../registry/kind.js';
import { forbiddenField, invalidValue } from '../../../registry/status/field-errors.js';
import { badRequest, invalid } from '../../../registry/status/status.js';
import type { Revision } from '../../../storage/storage.js';
import {
  booleanParameter,
  maxCount,
  timeoutMsOf,
  versionOf,
  wholeNumber,
} from '../../codec/query.js';
import { parseSelector, type Selector } from '../../codec/selectors.js';
import { optionsKind } from '../../request/options-kind.js';
import type { ResourceRequestInfo } from '../../request/request-info.js';

/** The longest watch in milliseconds, within the range of timers. */
const maxTimeoutMs = 2_000_000_000;

/** The options of a watch. */
export interface WatchOptions {
  selector: Selector;
  from: Revision | undefined;
  initial: 'synthetic' | 'list' | 'none';
  bookmarks: boolean;
  timeoutMs: number;
}

/**
 * Parses the options of a watch. Without a timeout it lasts `minTimeoutMs`, or up to twice
 * that.
 */
export function parseWatchOptions(
  requestInfo: ResourceRequestInfo,
  name: string | undefined,
  minTimeoutMs: number,
): WatchOptions {
  const { query, kind, view } = requestInfo;
  const optionError = (field: string, message: string): Error =>
    invalid(optionsKind('watch'), '', [forbiddenField(field, message)]);
  const version = versionOf(query, () =>
    invalid(optionsKind('watch'), '', [
      invalidValue('resourceVersion', 'must be a decimal number'),
    ]),
  );
  if (query.get('continue')) throw badRequest('continue is not supported with watch');
  const match = query.get('resourceVersionMatch');
  const initial = query.has('sendInitialEvents')
    ? booleanParameter(query, 'sendInitialEvents')
    : undefined;
  if (initial !== undefined && match !== 'NotOlderThan') {
    throw optionError(
      'resourceVersionMatch',
      'sendInitialEvents needs resourceVersionMatch=NotOlderThan',
    );
  }
  if (initial === undefined && match !== undefined) {
    throw optionError('resourceVersionMatch', 'only with sendInitialEvents');
  }
  const selector = ofEvents(parseSelector(query, kind, view.names), requestInfo);
  return {
    selector:
      name === undefined
        ? selector
        : { ...selector, name, hasFilters: selector.hasFilters, matches: selector.matches },
    from: version,
    initial: initialEvents(initial, version),
    bookmarks: booleanParameter(query, 'allowWatchBookmarks'),
    timeoutMs: Math.min(
      (wholeNumber(query, 'timeoutSeconds', maxCount) ?? 0) * 1000 ||
        Math.floor(minTimeoutMs * (1 + Math.random())),
      timeoutMsOf(query) ?? Infinity,
      maxTimeoutMs,
    ),
  };
}

/** Returns a selector that selects only the events of a watch of events. */
function ofEvents(selector: Selector, { isSelected }: ResourceRequestInfo): Selector {
  if (!isSelected) return selector;
  const matches = (object: KindObject): boolean => selector.matches(object) && isSelected(object);
  return { ...selector, hasFilters: true, matches };
}

/**
 * Returns the initial events, by `sendInitialEvents` if given, otherwise by the resourceVersion.
 */
function initialEvents(
  sendInitialEvents: boolean | undefined,
  version: Revision | undefined,
): WatchOptions['initial'] {
  if (sendInitialEvents !== undefined) return sendInitialEvents ? 'list' : 'none';
  return version === undefined ? 'synthetic' : 'none';
}
