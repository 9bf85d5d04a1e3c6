import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as http, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as https } from 'node:https';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/patience.js';
import { startWithOperator } from '../../support/people/operator.js';
import { stopAll, type TestService, temporary } from '../../support/service.js';

/** Keep-alive as a watch has it, and the sockets that were set to it. */
const { setKeepAlive } = Socket.prototype;
const kept = new Map<Socket, unknown[]>();

let service: TestService;
let token: string;
let ca: Buffer;
beforeAll(async () => {
  const directory = temporary();
  ({ service, token } = await startWithOperator({ directory, flags: ['--secure-port', '0'] }));
  ca = readFileSync(join(directory, 'tls.crt'));
  Socket.prototype.setKeepAlive = function (this: Socket, ...options: any[]) {
    if (options[1] === 15_000) kept.set(this, options);
    return setKeepAlive.apply(this, options as Parameters<typeof setKeepAlive>);
  } as typeof setKeepAlive;
});
afterAll(async () => {
  Socket.prototype.setKeepAlive = setKeepAlive;
  await stopAll();
});

describe.each(['http', 'https'])('an idle watch over %s', (protocol) => {
  const isSecure = protocol === 'https';
  /** Asks on one connection, which stays open; resolves with the head of the answer. */
  async function openers() {
    const options = { keepAlive: true, maxSockets: 1, ca };
    const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    const ask = (query: string): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const url = `${isSecure ? service.secureURL! : service.url}/api/v1beta1/groups?${query}`;
        (isSecure ? https : http)(
          url,
          { agent, headers: { authorization: `Bearer ${token}` } },
          resolve,
        )
          .on('error', reject)
          .end();
      });
    return { agent, ask };
  }

  test('stays open without a time limit, and TCP finds out whether its reader is there', async () => {
    const { agent, ask } = await openers();
    kept.clear();
    const answer = await ask('watch=true&resourceVersion=0');
    const [socket, options] = [...kept][0]!;
    expect([answer.statusCode, socket.timeout, options]).toEqual([200, 0, [true, 15_000]]);
    agent.destroy();
    await until(() => socket.destroyed);
  });

  test('ends, and its connection is closed again where nothing more is asked', async () => {
    const { agent, ask } = await openers();
    kept.clear();
    const answer = await ask('watch=true&resourceVersion=0&timeout=10ms');
    const [socket] = [...kept.keys()] as [Socket];
    await answer.resume().toArray();
    await until(() => socket.timeout !== 0);
    expect((await ask('limit=1')).resume().statusCode).toBe(200);
    await until(() => socket.timeout !== 0);
    agent.destroy();
  });
});
