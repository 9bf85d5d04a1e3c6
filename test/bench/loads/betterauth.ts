import { requestBytes } from '../connection.js';
import type { MakeLoad } from '../load.js';
import { connections } from '../people.js';

/**
 * Sign-ins of known accounts at better-auth: ask for a code, send it; every answer must name the
 * person.
 */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = async ({
  port,
  inFlight,
  accounts,
}) => {
  const free = await connections(port, inFlight * 4);
  const headers = {
    Host: `localhost:${port}`,
    Origin: `http://localhost:${port}`,
    'Content-Type': 'application/json',
    Accept: 'application/json',
  };
  let [count, turn] = [0, 0];
  const operation = async (): Promise<void> => {
    const connection = free.shift()!;
    const email = `person-${count++ % accounts}@bench.test`;
    const post = async (path: string, body: unknown): Promise<any> => {
      const answer = await connection.exchange(
        requestBytes('POST', `/api/auth/${path}`, headers, JSON.stringify(body)),
      );
      if (answer.code !== 200) {
        throw new Error(`${path} answered ${answer.code}: ${answer.body.toString().slice(0, 400)}`);
      }
      return JSON.parse(answer.body.toString());
    };
    await post('email-otp/send-verification-otp', { email, type: 'sign-in' });
    const { user } = await post('sign-in/email-otp', { email, otp: '123456' });
    if (user.email !== email) throw new Error(`signed in as ${String(user.email)}`);
    free.push(connection);
  };
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (turn++ < accounts) await operation();
    }),
  );
  return {
    inFlight,
    operation,
    close: () => {
      for (const connection of free) connection.close();
    },
  };
};
export default make;
