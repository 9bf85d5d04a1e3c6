import { connect } from 'node:net';
import type { MakeLoad } from '../load.js';

/** A watch opened, read to its head, and left, each on a connection of its own. */
const make: MakeLoad<{ port: number; requests: readonly string[] }> = async ({
  port,
  requests,
}) => ({
  inFlight: requests.length,
  operation: (worker) =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        socket.write(requests[worker]!);
      });
      let head = '';
      socket.on('data', (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        socket.destroy();
        if (head.startsWith('HTTP/1.1 200')) {
          resolve();
        } else {
          reject(new Error(`answered ${head.slice(0, 400)}`));
        }
      });
      socket.on('error', reject);
    }),
  close() {},
});
export default make;
