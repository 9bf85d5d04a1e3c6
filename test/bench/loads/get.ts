import { Connection } from '../connection.js';
import type { MakeLoad } from '../load.js';

/**
 * One GET again and again on each connection, with the bytes given; every answer must be 200 and as
 * long as the first, some are read.
 */
const make: MakeLoad<{ port: number; requests: readonly string[]; expect: string }> = async ({
  port,
  requests,
  expect,
}) => {
  const connections = await Promise.all(requests.map(() => Connection.open(port)));
  const bytes = requests.map((request) => Buffer.from(request));
  let count = 0;
  return {
    inFlight: requests.length,
    async operation(worker) {
      const { code, body } = await connections[worker]!.exchange(bytes[worker]!);
      if (code !== 200 || (count++ % 1024 === 0 && !body.includes(expect))) {
        throw new Error(`answered ${code}: ${body.toString().slice(0, 400)}`);
      }
    },
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
};
export default make;
