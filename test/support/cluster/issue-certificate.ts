import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type CertificatePair,
  lifetimeMs,
} from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';

const days = 86_400_000;

/** A certificate as a service makes its own, for these host names and addresses. */
export const makeCertificate = (names: readonly string[], now: number): CertificatePair =>
  issueCertificate({
    name: 'vestibule',
    from: now - days,
    until: now + lifetimeMs,
    usages: [serverAuth],
    names,
  });

/** What a certificate is for: TLS servers, TLS clients (RFC 5280 4.2.1.12). */
export const serverAuth = 1;
export const clientAuth = 2;

/**
 * What a certificate is to say: its common name, between which milliseconds since the epoch it is
 * good, for what (nothing said: anything), for which hosts, and of an authority how many others may
 * stand below it.
 */
export interface Wish {
  readonly name: string;
  readonly from: number;
  readonly until: number;
  readonly usages?: readonly number[];
  readonly names?: readonly string[];
  /** The organizations of its subject. */
  readonly organizations?: readonly string[];
  readonly authority?: { readonly below?: number };
}

/** Makes a certificate and its key, signed by an authority that was made here, else by itself. */
export function issueCertificate(wish: Wish, by?: CertificatePair): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = by ? new X509Certificate(by.cert).subject.replace(/^CN=/, '') : wish.name;
  const body = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSHA256,
    subject(issuer),
    sequence(time(wish.from), time(wish.until)),
    subject(wish.name, wish.organizations),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions(wish)),
  );
  const certificate = sequence(
    body,
    ecdsaWithSHA256,
    bits(sign('sha256', body, by ? by.key : privateKey)),
  );
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** A common name, after the organizations (RFC 5280 4.1.2.6). */
const subject = (name: string, organizations: readonly string[] = []): Buffer =>
  sequence(...organizations.map((one) => attribute(10, one)), attribute(3, name));

const attribute = (number: number, text: string): Buffer =>
  set(sequence(object(2, 5, 4, number), tlv(0x0c, Buffer.from(text))));

/**
 * Whether it is an authority, what its key signs, what for, and by which names it goes (RFC 5280
 * 4.2.1.9, .3, .12 and .6).
 */
const extensions = ({ authority, usages, names = [] }: Wish): Buffer =>
  sequence(
    extension(
      19,
      authority
        ? sequence(
            tlv(0x01, Buffer.of(0xff)),
            ...(authority.below === undefined ? [] : [integer(Buffer.of(authority.below))]),
          )
        : sequence(),
      true,
    ),
    extension(15, tlv(0x03, authority ? Buffer.of(2, 0x04) : Buffer.of(7, 0x80)), true),
    ...(usages
      ? [extension(37, sequence(...usages.map((usage) => object(1, 3, 6, 1, 5, 5, 7, 3, usage))))]
      : []),
    ...(names.length > 0
      ? [
          extension(
            17,
            sequence(
              ...names.map((name) =>
                isIP(name) ? tlv(0x87, address(name)) : tlv(0x82, Buffer.from(name, 'ascii')),
              ),
            ),
          ),
        ]
      : []),
  );

const extension = (number: number, value: Buffer, critical = false): Buffer =>
  sequence(
    object(2, 5, 29, number),
    ...(critical ? [tlv(0x01, Buffer.of(0xff))] : []),
    tlv(0x04, value),
  );

/**
 * One value by the Distinguished Encoding Rules (X.690 8.1): what it is, how long it is, and what
 * is in it.
 */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(value.length)), value]);
}

/** A length below 64 Ki as it is encoded (X.690 8.1.3). */
function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

const sequence = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tlv(0x31, ...parts);
const integer = (value: Buffer): Buffer => tlv(0x02, value);
const bits = (value: Buffer): Buffer => tlv(0x03, Buffer.of(0), value);

/** An object identifier (X.690 8.19): seven bits a byte, the first two numbers in one. */
function object(first: number, second: number, ...rest: readonly number[]): Buffer {
  const sevens = (number: number): number[] =>
    number < 0x80 ? [number] : [...sevens(number >> 7).map((seven) => seven | 0x80), number & 0x7f];
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(sevens)));
}

const ecdsaWithSHA256 = sequence(object(1, 2, 840, 10045, 4, 3, 2));

/**
 * A moment to the second: two digits of the year up to 2049, four from then on (RFC 5280 4.1.2.5).
 */
function time(milliseconds: number): Buffer {
  const text = `${new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`;
  return text < '2050' ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

/** An IP address as the four or sixteen bytes it is. */
function address(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split('.').map(Number));
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail);
  return Buffer.from(
    [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
      .map((one) => one.padStart(4, '0'))
      .join(''),
    'hex',
  );
}

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
