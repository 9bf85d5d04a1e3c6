import { createHash } from 'node:crypto';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { boundJPEG } from './jpeg-header.js';

/**
 * The bounds of a logo. They keep the event loop free, because decoding is synchronous, and so are
 * not settings (docs/design/api.md#appearance).
 */
export const maxLogoBytes = 256 << 10;
export const maxLogoSide = 512;

/** Megabytes that decoding a JPEG may take; one of the largest size needs 8. */
const maxJPEGMemory = 32;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Pixels extends Size {
  /** Red, green, blue and alpha of each pixel. */
  readonly data: Uint8Array;
}

interface Format {
  readonly name: string;
  readonly signature: Buffer;
  /** Returns the declared size; undefined if the file is malformed or costly to decode. */
  bound(file: Buffer): (Size & { readonly file: Buffer }) | undefined;
  /** Decodes a file of an accepted size; throws if it is damaged. */
  decode(file: Buffer): Pixels;
}

/**
 * Reads the size of a PNG. It must have one header, and no interlacing: pngjs inflates interlaced
 * images without a bound.
 */
function boundPNG(file: Buffer): ReturnType<Format['bound']> {
  if (file.length < 33 || file.toString('latin1', 12, 16) !== 'IHDR' || file[28] !== 0)
    return undefined;
  for (let at = 33; at + 8 <= file.length; at += file.readUInt32BE(at) + 12)
    if (file.toString('latin1', at + 4, at + 8) === 'IHDR') return undefined;
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20), file };
}

const formats: readonly Format[] = [
  {
    name: 'PNG without interlacing',
    signature: Buffer.from('89504e470d0a1a0a', 'hex'),
    bound: boundPNG,
    decode: (file) => PNG.sync.read(file),
  },
  {
    name: 'JPEG',
    signature: Buffer.from('ffd8ff', 'hex'),
    bound: boundJPEG,
    decode: (file) =>
      jpeg.decode(file, {
        useTArray: true,
        tolerantDecoding: false,
        maxResolutionInMP: maxLogoSide ** 2 / 1e6,
        maxMemoryUsageInMB: maxJPEGMemory,
      }),
  },
];

const isAccepted = ({ width, height }: Size): boolean =>
  Math.min(width, height) >= 1 && Math.max(width, height) <= maxLogoSide;

/**
 * Decodes an uploaded logo, a PNG or JPEG in base64, and encodes its pixels as PNG, so that nothing
 * else of the file is served. Returns what is wrong with it if it cannot be a logo.
 */
export function encodeLogo(upload: string): { readonly png: Buffer } | { readonly fault: string } {
  const text = upload.replace(/\s/g, '');
  const file = Buffer.from(text, 'base64');
  const format = formats.find(({ signature }) =>
    file.subarray(0, signature.length).equals(signature),
  );
  if (!format || file.toString('base64') !== text)
    return { fault: 'must be a PNG or JPEG image in base64' };
  if (file.length > maxLogoBytes)
    return { fault: `must have at most ${maxLogoBytes} bytes (got ${file.length})` };
  const bounded = format.bound(file);
  if (!bounded) return { fault: `must be a ${format.name}` };
  if (!isAccepted(bounded))
    return {
      fault: `must have at most ${maxLogoSide} x ${maxLogoSide} pixels (got ${bounded.width} x ${bounded.height})`,
    };
  return encodePixels(bounded.file, format);
}

function encodePixels(file: Buffer, format: Format): ReturnType<typeof encodeLogo> {
  let image: Pixels;
  try {
    image = format.decode(file);
  } catch {
    return { fault: `must be a complete ${format.name}` };
  }
  if (!isAccepted(image)) return { fault: `must be a ${format.name} of one image` };
  const { width, height, data } = image;
  const target = new PNG({ width, height });
  target.data = Buffer.from(data);
  const png = PNG.sync.write(target);
  return png.length <= maxLogoBytes
    ? { png }
    : { fault: `has ${png.length} bytes as PNG and may have ${maxLogoBytes}: use fewer pixels` };
}

/** Returns the path of a logo, which contains its hash, so that it never changes. */
export const logoPath = (png: Buffer): string =>
  `/assets/logo-${createHash('sha256').update(png).digest('hex').slice(0, 32)}.png`;
