import { createServer } from 'node:net';

/** Returns a port that is free at this moment. */
export async function freePort(address: string): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, address, () => resolve());
  });
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return port;
}
