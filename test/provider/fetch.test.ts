import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createRaw, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createFetch, libraryFetch } from '../../provider/context/egress-fetch.js';
import { EgressPolicy } from '../../security/egress-policy.js';
import { expectFor } from '../support/expect-for.js';
import { Stopwatch } from '../support/stopwatch.js';

type RawAnswer = (socket: Socket) => void;

let server: Server;
let port: number;
let connections = 0;
let handler: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
  response.end('{}');
};
beforeAll(async () => {
  server = createServer((request, response) => handler(request, response));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(0, done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const local = createFetch({ baseURL: 'http://localhost:1' });
const strict = createFetch({ baseURL: 'https://id.example.test' });

describe('the one way out', () => {
  test('does not even connect where it may not go', async () => {
    const before = connections;
    for (const url of [
      `http://127.0.0.1:${port}`,
      `https://127.0.0.1:${port}`,
      `https://[::1]:${port}`,
      `https://[::ffff:127.0.0.1]:${port}`,
      `https://localhost:${port}`,
      `http://localhost:${port}`,
      `https://0.0.0.0:${port}`,
      `https://2130706433:${port}`,
      `https://0x7f.1:${port}`,
      'https://169.254.169.254/latest',
      'https://10.0.0.1',
      'https://[fd00::1]',
      'https://[64:ff9b::7f00:1]',
      'ftp://example.test',
      'not an address',
      'https://user:pass@example.test',
      'https://example.test/#x',
      `https://127.1:${port}`,
      `https://0177.0.0.1:${port}`,
      `https://017700000001:${port}`,
      `https://0x7f000001:${port}`,
      `https://127.0.0.1.:${port}`,
      `https://0:${port}`,
      `https://[::]:${port}`,
      `https://①②⑦.⓪.⓪.①:${port}`,
      `https://127。0。0。1:${port}`,
      `https://%31%32%37.0.0.1:${port}`,
      `https://[::ffff:7f00:1]:${port}`,
      `https://[0:0:0:0:0:ffff:7f00:0001]:${port}`,
      `https://[::127.0.0.1]:${port}`,
      `https://[2002:7f00:1::]:${port}`,
      'https://[::ffff:a9fe:a9fe]',
      'https://[64:ff9b::a9fe:a9fe]',
      'https://[fd00:ec2::254]',
      'https://[fe80::1]',
      `https://example.test@127.0.0.1:${port}`,
      `https:\\\\127.0.0.1:${port}`,
      `https:127.0.0.1:${port}`,
      'file:///etc/passwd',
      'gopher://127.0.0.1',
      'data:,x',
      'unix:/run/x.sock',
      '',
    ]) {
      await expect(strict(url, { method: 'GET' })).rejects.toMatchObject({
        name: 'EgressRefusedError',
      });
    }
    expect(connections).toBe(before);
  });

  test('goes to loopback over http only while the base URL is there', async () => {
    handler = (request, response) => {
      response.end(JSON.stringify(request.headers));
    };
    const answer = await local(`http://localhost:${port}/x`, {
      method: 'POST',
      headers: { 'x-own': 'yes' },
      body: 'ä',
    });
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      'accept-encoding': 'identity',
      'content-length': '2',
      'x-own': 'yes',
    });
    expect(JSON.parse(answer.body.toString())).not.toHaveProperty('cookie');
    await expect(local('http://example.test', { method: 'GET' })).rejects.toThrow();
    await expect(local('http://10.0.0.1', { method: 'GET' })).rejects.toMatchObject({
      name: 'EgressRefusedError',
    });
  });

  test('follows no redirect', async () => {
    handler = (_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    };
    expect((await local(`http://localhost:${port}`, { method: 'GET' })).status).toBe(302);
  });

  test('gives up after 2.5 s in all, however slowly something comes', async () => {
    handler = (_, response) => {
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    };
    const stopwatch = new Stopwatch();
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({
      name: 'Failed',
    });
    expect(stopwatch.milliseconds).toBeLessThan(3_000);
  });

  test('gives up in time on what never answers', async () => {
    const inside = createServer((_, response) => {
      response.end('{}');
    });
    let reached = 0;
    await new Promise<void>((done) =>
      inside
        .on('connection', () => {
          reached += 1;
        })
        .listen(0, done),
    );
    const elsewhere = `http://localhost:${(inside.address() as AddressInfo).port}/`;
    const drip =
      (text: string, pause: number): RawAnswer =>
      (socket) => {
        let i = 0;
        const timer = setInterval(() => {
          socket.write(text[i++ % text.length]!);
        }, pause);
        socket.on('close', () => clearInterval(timer));
      };
    const odd: Record<string, RawAnswer> = {
      'nothing at all': () => {},
      'a head, byte by byte': drip('HTTP/1.1 200 OK\r\nx: y', 100),
      'interim answers without end': (socket) => {
        const timer = setInterval(() => {
          socket.write('HTTP/1.1 103 Early Hints\r\n\r\n');
        }, 50);
        socket.on('close', () => clearInterval(timer));
      },
      'a head of 64 KiB': (socket) => {
        socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64 << 10)}\r\n\r\n{}`);
      },
      'chunks without end': (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const timer = setInterval(() => {
          socket.write(`400\r\n${'x'.repeat(1024)}\r\n`);
        }, 1);
        socket.on('close', () => clearInterval(timer));
      },
      'less than it promised': (socket) => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}');
      },
      'another protocol': (socket) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
      },
      'no HTTP': (socket) => {
        socket.end('SSH-2.0-OpenSSH_9.9\r\n');
      },
      'two lengths': (socket) => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}');
      },
    };
    const stopwatch = new Stopwatch();
    await Promise.all(
      Object.entries(odd).map(async ([what, answer]) => {
        const raw = createRaw((socket) => {
          socket.on('error', () => {}).once('data', () => answer(socket));
        });
        await new Promise<void>((done) => raw.listen(0, done));
        await expect(
          local(`http://localhost:${(raw.address() as AddressInfo).port}/${what.length}`, {
            method: 'GET',
          }).then(() => what),
        ).rejects.toMatchObject({ name: 'Failed' });
        raw.close();
      }),
    );
    expect(stopwatch.milliseconds).toBeLessThan(5_000);
    for (const status of [300, 301, 302, 303, 307, 308]) {
      handler = (_, response) => {
        response
          .writeHead(status, {
            location: elsewhere,
            refresh: `0; url=${elsewhere}`,
            link: `<${elsewhere}>; rel=preload`,
            'alt-svc': `h2="${elsewhere}"`,
          })
          .end();
      };
      expect((await local(`http://localhost:${port}`, { method: 'POST', body: '{}' })).status).toBe(
        status,
      );
    }
    expect(reached).toBe(0);
    inside.close();
  });

  test('inflates no response, with any content encoding', async () => {
    const bomb = gzipSync(Buffer.alloc(8 << 20, ' '));
    expect(bomb.length).toBeLessThan(16 << 10);
    for (const encoding of ['gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'GZIP']) {
      handler = (_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
      };
      await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({
        name: 'Failed',
      });
    }
    handler = (_, response) => {
      response.writeHead(200).end(bomb);
    };
    expect((await local(`http://localhost:${port}`, { method: 'GET' })).body.equals(bomb)).toBe(
      true,
    );
  });

  test('takes 64 KiB and nothing encoded', async () => {
    handler = (_, response) => {
      response.end('x'.repeat(64 << 10));
    };
    expect((await local(`http://localhost:${port}`, { method: 'GET' })).body.length).toBe(64 << 10);
    handler = (_, response) => {
      response.end('x'.repeat((64 << 10) + 1));
    };
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({
      name: 'Failed',
    });
    handler = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    };
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({
      name: 'Failed',
    });
  });

  test('has the shape the library expects', async () => {
    handler = (_, response) => {
      response.writeHead(204, { expires: 'never' }).end();
    };
    const answer = await libraryFetch(local)(`http://localhost:${port}`, {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
      headers: new Headers({ 'content-type': 'x/y', cookie: 'no' }),
    });
    expect([answer.status, answer.headers.get('expires')]).toEqual([204, 'never']);
  });
});

describe('the egress policy', () => {
  const egressPolicy = new EgressPolicy(['10.1.0.0/16', 'fd12::/16'], false);
  test.each([
    ['93.184.216.34', true],
    ['2606:2800:220:1:248:1893:25c8:1946', true],
    ['10.1.2.3', true],
    ['10.2.0.1', false],
    ['fd12::1', true],
    ['fd13::1', false],
    ['fd00:ec2::254', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['::', false],
    ['::ffff:10.1.0.1', true],
    ['::ffff:a02:1', false],
    ['100.64.0.1', false],
    ['172.16.0.1', false],
    ['192.168.1.1', false],
    ['169.254.169.254', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['2001:db8::1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
    ['fe80::1', false],
    ['ff02::1', false],
    ['64:ff9b::a00:1', false],
    ['not one', false],
  ])('%s: %s', (address, permitted) => {
    expect(egressPolicy.permits(address, true)).toBe(permitted);
  });

  test('metadata addresses stay closed even where their range is open', () => {
    expect(new EgressPolicy(['169.254.0.0/16'], false).permits('169.254.169.254', true)).toBe(
      false,
    );
    expect(new EgressPolicy(['169.254.0.0/16'], false).permits('169.254.1.1', true)).toBe(true);
    const wide = new EgressPolicy(
      ['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '::/96', '100.64.0.0/10', 'fd00::/8'],
      false,
    );
    for (const address of [
      '64:ff9b::a9fe:a9fe',
      '64:ff9b::a9fe:aa02',
      '64:ff9b::6464:64c8',
      '64:ff9b::a83f:8110',
      '64:ff9b:1::a9fe:a9fe',
      '2002:a9fe:a9fe::1',
      '::a9fe:a9fe',
      '::ffff:a9fe:a9fe',
      '100.100.100.200',
      'fd00:ec2::254',
      'fd20:ce::254',
    ]) {
      expectFor(address, wide.permits(address, true)).toEqual(false);
    }
    for (const address of ['64:ff9b::5db8:d822', '2002:5db8:d822::1', '100.64.0.1', 'fd00::1']) {
      expectFor(address, wide.permits(address, true)).toEqual(true);
    }
  });
});
