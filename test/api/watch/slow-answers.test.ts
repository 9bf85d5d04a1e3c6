import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ApiRequest, ApiResponse } from '../../../apiserver/http/message.js';
import { Listener } from '../../../apiserver/listener.js';
import { makeCertificate } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { RawSocket } from '../../support/network/socket.js';

let listener: Listener;
afterEach(async () => {
  listener.closeConnections('all');
  await listener.close();
});

const lines = ['GET / HTTP/1.1', 'Host: localhost'];

/** Every port is a listener: of these two kinds. */
describe.each(['http', 'https'])('over %s', (scheme) => {
  /** A connection to a listener whose idle time is short, with one request sent. */
  async function ask(serve: (req: ApiRequest, res: ApiResponse) => void): Promise<RawSocket> {
    const pair = await makeCertificate(['localhost'], Date.now());
    listener = new Listener(
      {
        serve(req, res) {
          req.socket.setTimeout(20);
          serve(req, res);
        },
        unread() {},
      },
      { maxHeaderBytes: 16_384, timeoutMs: 60_000 },
      scheme === 'https' ? { ...pair, minVersion: 'TLSv1.3', onChange() {} } : undefined,
    );
    const { port } = await listener.listen(0, '127.0.0.1');
    return new RawSocket(`${scheme}://127.0.0.1:${port}`).send(lines);
  }

  test('a request that takes longer than the idle time is answered', async () => {
    const raw = await ask(async (req, res) => {
      await once(req.socket, 'timeout');
      res.write('at ');
      await once(req.socket, 'timeout');
      res.end('last');
    });
    await raw.until(({ text }) => text.includes('last'));
    expect(raw.text).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('so is a request behind it on the same connection', async () => {
    let count = 0;
    const raw = await ask(async (req, res) => {
      count += 1;
      const text = `answer ${count}`;
      await once(req.socket, 'timeout');
      res.end(text);
    });
    raw.send(lines);
    await raw.until(({ text }) => text.includes('answer 2'));
    expect(raw.text.match(/200 OK/g)).toHaveLength(2);
  });

  test('a client that takes nothing of its answer is cut', async () => {
    const cut = new Promise<void>((resolve) => {
      void ask((req, res) => {
        req.socket.once('close', () => resolve());
        res.write(Buffer.alloc(64 << 20));
      }).then(({ socket }) => socket.pause());
    });
    await cut;
  });
});
