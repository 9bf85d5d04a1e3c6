import { useEffect, useState } from 'preact/hooks';
import type { AccessRequest } from '../../api.js';
import { ApiError } from '../../base/api/api.js';
import { readAll } from '../../base/api/collection.js';
import { ownedBy, useAccountContext } from '../base/account-context.js';

/** How often a request that waits is read again, in milliseconds. */
const pollMs = 5_000;

/** The requests of the person, as far as they are known, and the changes that the page makes. */
export interface AccessRequests {
  readonly items?: readonly AccessRequest[];
  readonly put: (request: AccessRequest) => void;
  readonly remove: (name: string) => void;
}

/** Reports whether a request waits for a decision. */
export const isPending = ({ status }: AccessRequest): boolean => status.phase === 'Pending';

/**
 * The requests of the person, read again while one waits. A watch would hold one of the few connections
 * that a browser opens to a server (HTTP/1.1), and the page has others. None if they cannot be read, as
 * under policies of earlier releases.
 */
export function useAccessRequests(): AccessRequests {
  const { account, isLive } = useAccountContext();
  const [items, setItems] = useState<readonly AccessRequest[]>();
  const isWaiting = items?.some(isPending) ?? false;
  useEffect(() => {
    if (!isLive) return undefined;
    const read = (): void =>
      void readAll<AccessRequest>('accessrequests', ownedBy(account)).then(
        (list) => setItems(list.items),
        (thrown: unknown) => {
          if (!(thrown instanceof ApiError)) throw thrown;
        },
      );
    read();
    if (!isWaiting) return undefined;
    const timer = setInterval(read, pollMs);
    return () => clearInterval(timer);
  }, [account.metadata.name, isLive, isWaiting]);
  const others = (name: string): AccessRequest[] =>
    (items ?? []).filter(({ metadata }) => metadata.name !== name);
  return {
    ...(items && { items }),
    put: (request) => setItems([...others(request.metadata.name), request]),
    remove: (name) => setItems(others(name)),
  };
}
