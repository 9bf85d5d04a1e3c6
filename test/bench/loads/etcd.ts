import etcd3 from 'etcd3';
import type { MakeLoad } from '../load.js';
import { type Footprint, keyOf, newKeyOf, type Size } from '../measure/footprint.js';

/**
 * What anyone would write with etcd3: for each change one transaction that compares and writes the keys
 * of `footprint`.
 */
const make: MakeLoad<{ endpoint: string; inFlight: number; footprint: Footprint }> = async ({
  endpoint,
  inFlight,
  footprint: { replaced, added },
}) => {
  const etcd = new etcd3.Etcd3({ hosts: endpoint });
  const [first, ...others] = replaced as [Size, ...Size[]];
  const put = (key: string, { valueBytes }: Size) =>
    etcd.put(key).value(Buffer.alloc(valueBytes, 'y'));
  const revisions = await Promise.all(
    Array.from({ length: inFlight }, async (_, worker) => {
      const writes = replaced.map((size, i) => put(keyOf(worker, i, size.keyBytes), size));
      const { header } = await etcd
        .if('/none', 'Version', '==', 0)
        .then(...writes)
        .commit();
      return header.revision;
    }),
  );
  let change = 0;
  return {
    inFlight,
    async operation(worker) {
      const revision = revisions[worker]!;
      change += 1;
      const compared = others.reduce(
        (all, { keyBytes }, i) => all.and(keyOf(worker, i + 1, keyBytes), 'Mod', '==', revision),
        etcd.if(keyOf(worker, 0, first.keyBytes), 'Mod', '==', revision),
      );
      const { succeeded, header } = await compared
        .then(
          ...replaced.map((size, i) => put(keyOf(worker, i, size.keyBytes), size)),
          ...added.map((size, i) => put(newKeyOf(worker, i, size.keyBytes, change), size)),
        )
        .commit();
      if (!succeeded) throw new Error('lost a race without an opponent');
      revisions[worker] = header.revision;
    },
    close: () => etcd.close(),
  };
};
export default make;
