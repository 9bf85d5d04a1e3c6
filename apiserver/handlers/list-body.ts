import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

const comma = Buffer.from(',');

/** The end of a list's body. */
export const listEnd = Buffer.from(']}');

/** The context of a representation. */
export const viewContextOf = ({ caller }: AuthorizedRequest) => ({ caller, now: Date.now() });

/** Encodes items, separated by commas. */
export function itemsOf(
  entries: readonly EncodedObject[],
  authorized: AuthorizedRequest,
): Buffer[] {
  const { representation } = authorized.requestInfo as ResourceRequestInfo;
  const viewContext = viewContextOf(authorized);
  return entries.flatMap((one, i) =>
    i === 0
      ? [representation.listItem(one, viewContext)]
      : [comma, representation.listItem(one, viewContext)],
  );
}
