import etcd3 from 'etcd3';
import type { MakeLoad } from '../load.js';

/**
 * What anyone would write with etcd3: one compare-and-set transaction a change, of as many bytes
 * as a passkey has.
 */
const make: MakeLoad<{ endpoint: string; inFlight: number; bytes: number }> = async ({
  endpoint,
  inFlight,
  bytes,
}) => {
  const etcd = new etcd3.Etcd3({ hosts: endpoint });
  const keys = Array.from({ length: inFlight }, (_, i) => `/ceiling/person-${i}`);
  const revisions = await Promise.all(
    keys.map(async (key) => (await etcd.put(key).value(Buffer.alloc(bytes, 'x'))).header.revision),
  );
  return {
    inFlight,
    async operation(worker) {
      const key = keys[worker]!;
      const { succeeded, header } = await etcd
        .if(key, 'Mod', '==', revisions[worker]!)
        .then(etcd.put(key).value(Buffer.alloc(bytes, 'y')))
        .commit();
      if (!succeeded) throw new Error('lost a race without an opponent');
      revisions[worker] = header.revision;
    },
    close: () => etcd.close(),
  };
};
export default make;
