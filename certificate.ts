import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate and its private key, as PEM. */
export interface Pair { readonly cert: string; readonly key: string }

const days = 86_400_000;

/** How long a certificate that is made here is good for, in milliseconds: as long as kube-apiserver's own. */
export const lifetime = 365 * days;

/** Makes a certificate for these host names and addresses that proves itself (RFC 5280 4.1), good from a day before `now` (clocks differ) for a year after: whoever trusts it trusts it for these names and for nothing it might sign. */
export function makeCertificate(names: readonly string[], now: number): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(object(2, 5, 4, 3), tlv(0x0c, Buffer.from('vestibule')))));
  const body = sequence(
    tlv(0xa0, integer(Buffer.of(2))), integer(Buffer.concat([Buffer.of(1), randomBytes(15)])), ecdsaWithSHA256, name,
    sequence(time(now - days), time(now + lifetime)), name, publicKey.export({ type: 'spki', format: 'der' }), tlv(0xa3, extensions(names)),
  );
  const certificate = sequence(body, ecdsaWithSHA256, bits(sign('sha256', body, privateKey)));
  return { cert: pem('CERTIFICATE', certificate), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

/** No authority, signs for servers, and by which names it goes (RFC 5280 4.2.1.9, .3, .12 and .6). */
const extensions = (names: readonly string[]): Buffer => sequence(
  extension(19, sequence(), true), extension(15, tlv(0x03, Buffer.of(7, 0x80)), true), extension(37, sequence(object(1, 3, 6, 1, 5, 5, 7, 3, 1))),
  extension(17, sequence(...names.map((one) => (isIP(one) ? tlv(0x87, address(one)) : tlv(0x82, Buffer.from(one, 'ascii')))))),
);

const extension = (number: number, value: Buffer, critical = false): Buffer => sequence(object(2, 5, 29, number), ...(critical ? [tlv(0x01, Buffer.of(0xff))] : []), tlv(0x04, value));

/** One value by the Distinguished Encoding Rules (X.690 8.1): what it is, how long it is, and what is in it. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const length = value.length < 0x80 ? [value.length] : value.length < 0x100 ? [0x81, value.length] : [0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), value]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
const integer = (value: Buffer): Buffer => tlv(0x02, value);
const bits = (value: Buffer): Buffer => tlv(0x03, Buffer.of(0), value);

/** An object identifier (X.690 8.19): seven bits a byte, the first two numbers in one. */
function object(first: number, second: number, ...rest: readonly number[]): Buffer {
  const sevens = (number: number): number[] => (number < 0x80 ? [number] : [...sevens(number >> 7).map((one) => one | 0x80), number & 0x7f]);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(sevens)));
}

const ecdsaWithSHA256 = sequence(object(1, 2, 840, 10045, 4, 3, 2));

/** A moment to the second: two digits of the year up to 2049, four from then on (RFC 5280 4.1.2.5). */
function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`;
  return text < '2050' ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

/** An IP address as the four or sixteen bytes it is. */
function address(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split('.').map(Number));
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  return Buffer.from([...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after].map((one) => one.padStart(4, '0')).join(''), 'hex');
}

const pem = (label: string, der: Buffer): string => `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
