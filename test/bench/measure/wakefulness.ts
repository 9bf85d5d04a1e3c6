import { Connection } from '../connection.js';

/**
 * Keeps this process from sleeping until the returned function is called. That returns the
 * milliseconds in which there was nothing to do. An answer to a sleeping client costs its sender
 * the waking of another core: the slower the side, the more of it would be charged.
 */
export function stayAwake(): () => number {
  let [idle, last, seen, awake] = [0, performance.now(), Connection.answers, true];
  const turn = (): void => {
    const now = performance.now();
    if (seen === Connection.answers) idle += now - last;
    [last, seen] = [now, Connection.answers];
    if (awake) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    awake = false;
    return idle;
  };
}
