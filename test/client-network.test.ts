import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { clientNetwork, isFromProxy } from '../apiserver/http/client-network.js';
import { CidrList } from '../security/cidr-list.js';

const trusted = new CidrList(['10.0.0.0/8', '2001:db8:ffff::/48']);
const from = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

/** Spellings of one IPv4 address, as proxies write them. */
const spellings = [
  '192.0.2.7',
  '::ffff:192.0.2.7',
  '::FFFF:192.0.2.7',
  '::ffff:c000:207',
  '::FFFF:C000:0207',
  '0:0:0:0:0:ffff:192.0.2.7',
  '0000:0000:0000:0000:0000:FFFF:C000:0207',
  '0::ffff:c000:207',
];
const long = '2001:0DB8:0001:0002:0000:0000:0000:0001';

describe('the network of a client', () => {
  const forms = spellings.flatMap((spelling) =>
    spelling.includes(':')
      ? [
          spelling,
          `[${spelling}]`,
          `[${spelling}]:8080`,
          `${spelling}%eth0`,
          `[${spelling}%25eth0]:1`,
        ]
      : [spelling, `${spelling}:8080`, ` ${spelling} `],
  );

  test.each(forms)('is that of IPv4, forwarded as %j', (form) => {
    expect(clientNetwork(from('10.0.0.1', form), trusted)).toBe('192.0.2.7');
    expect(clientNetwork(from('10.0.0.1', `203.0.113.1, ${form}`), trusted)).toBe('192.0.2.7');
  });

  test.each(spellings)('is that of IPv4, connected as %j', (address) => {
    expect(clientNetwork(from(address), trusted)).toBe('192.0.2.7');
    expect(clientNetwork(from(address), undefined)).toBe('192.0.2.7');
  });

  test.each([long, long.toLowerCase(), '2001:db8:1:2::1', '[2001:db8:1:2::1]:443', `${long}%1`])(
    'is the /64 of IPv6, forwarded as %j',
    (form) => {
      expect(clientNetwork(from('10.0.0.1', form), trusted)).toBe('2001:db8:1:2::/64');
    },
  );

  test.each(['::FFFF:10.0.0.1', '::ffff:a00:1', '10.0.0.1:99', '[2001:DB8:FFFF::1]:99'])(
    'is the next one before a proxy that is forwarded as %j',
    (proxy) => {
      expect(clientNetwork(from('10.0.0.2', `192.0.2.7, ${proxy}`), trusted)).toBe('192.0.2.7');
    },
  );

  test.each(['::FFFF:10.0.0.1', '0:0:0:0:0:ffff:a00:1'])('trusts a proxy connected as %j', (at) => {
    expect(isFromProxy(from(at), trusted)).toBe(true);
    expect(clientNetwork(from(at, '192.0.2.7'), trusted)).toBe('192.0.2.7');
  });

  test.each([
    'unknown',
    '',
    '_hidden',
    '192.0.2',
    '192.0.2.7:x',
    '[192.0.2.7',
    '192.0.2.7.:1',
    '[::1',
  ])('is that of the nearest proxy, forwarded as %j', (form) => {
    expect(clientNetwork(from('10.0.0.1', form), trusted)).toBe('10.0.0.1');
  });

  test('is not taken from the header of who is no proxy', () => {
    expect(clientNetwork(from('192.0.2.9', '192.0.2.7'), trusted)).toBe('192.0.2.9');
  });
});
