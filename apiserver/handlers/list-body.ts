import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AuthorizedRequest } from '../http/message.js';
import type { ResourceRequestInfo } from '../request/request-info.js';

const comma = Buffer.from(',');

/** What a list's body ends with. */
export const listEnd = Buffer.from(']}');

/** What a view knows of the call that it is made for. */
export const viewCall = ({ caller }: AuthorizedRequest) => ({ caller, now: Date.now() });

/** Items with the commas between them. */
export function itemsOf(
  entries: readonly EncodedObject[],
  authorized: AuthorizedRequest,
): Buffer[] {
  const { view } = authorized.requestInfo as ResourceRequestInfo;
  const seen = viewCall(authorized);
  return entries.flatMap((one, i) =>
    i === 0 ? [view.item(one, seen)] : [comma, view.item(one, seen)],
  );
}
