import type { Socket } from 'node:net';

/** How long nothing comes before TCP asks, in milliseconds. */
const keepAliveMs = 15_000;

/**
 * Leaves a connection open on which nothing is sent, and has TCP find out whether the other side is
 * there (docs/design/kubernetes.md#watches). Returns a function that restores the idle timeout.
 */
export function keepOpen(socket: Socket): () => void {
  const { timeout = 0 } = socket;
  socket.setTimeout(0).setKeepAlive(true, keepAliveMs);
  return () => void socket.setTimeout(timeout);
}
