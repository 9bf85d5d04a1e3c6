import type { MakeLoad } from '../load.js';
import { passkeyOf } from '../passkey.js';
import { people } from '../people.js';

/**
 * Each of those in flight changes a passkey of its own, naming the version that the answer before
 * brought; at the end what was written is read back.
 */
const make: MakeLoad<{ port: number; inFlight: number }> = async ({ port, inFlight }) => {
  const all = await people(port, inFlight);
  const paths = await Promise.all(
    all.map((person) => passkeyOf(person, `http://localhost:${port}`)),
  );
  const versions = await Promise.all(
    all.map(
      async ({ browser }, i) =>
        ((await browser.fetch(paths[i]!)) as { metadata: { resourceVersion: string } }).metadata
          .resourceVersion,
    ),
  );
  let count = 0;
  const patch = async (worker: number, displayName: string): Promise<string> => {
    const { browser, connection } = all[worker]!;
    const body = JSON.stringify({
      metadata: { resourceVersion: versions[worker] },
      spec: { displayName },
    });
    const answer = await connection.exchange(
      browser.bytes(
        'PATCH',
        paths[worker]!,
        { 'Content-Type': 'application/merge-patch+json' },
        body,
      ),
    );
    if (answer.code !== 200) {
      throw new Error(`answered ${answer.code}: ${answer.body.toString().slice(0, 400)}`);
    }
    return answer.body.toString('latin1');
  };
  return {
    inFlight,
    async operation(worker) {
      const displayName = `Passkey number ${(count += 1)}`;
      const body = await patch(worker, displayName);
      versions[worker] = /"resourceVersion":"(\d+)"/.exec(body)![1]!;
      if (count % 256 !== 0) return;
      const stored = (await all[worker]!.browser.fetch(paths[worker]!)) as {
        spec: { displayName: string };
      };
      if (stored.spec.displayName !== displayName) {
        throw new Error(`wrote ${displayName}, read ${stored.spec.displayName}`);
      }
    },
    close: () => {
      for (const { connection } of all) connection.close();
    },
  };
};
export default make;
