import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { boundJPEG } from './jpeg-header.js';

/** The bounds of a logo. */
export const maxLogoBytes = 256 << 10;
export const maxLogoSide = 512;

/** The time limit for decoding and encoding one logo, in milliseconds. */
const encodingTimeoutMs = 20_000;

/**
 * Decodes a file and encodes its pixels as PNG. Runs in a worker thread, because both libraries
 * compute without a pause, up to 70 ms for the largest logo.
 */
const workerSource = `
const { parentPort, workerData } = require('node:worker_threads');
const { decoder, encoder, file, maxPixels } = workerData;
const { PNG } = require(encoder);
const options = { useTArray: true, tolerantDecoding: false, maxResolutionInMP: maxPixels / 1e6, maxMemoryUsageInMB: 32 };
const { width, height, data } =
  decoder === encoder ? PNG.sync.read(Buffer.from(file)) : require(decoder).decode(file, options);
const image = new PNG({ width, height });
image.data = Buffer.from(data);
parentPort.postMessage({ width, height, file: PNG.sync.write(image) });`;

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Image extends Size {
  readonly file: Buffer;
}

interface Format {
  readonly name: string;
  readonly signature: Buffer;
  /** Returns the declared size; undefined if the file is malformed or costly to decode. */
  bound(file: Buffer): Image | undefined;
  /** The package that decodes it. */
  readonly decoder: 'pngjs' | 'jpeg-js';
}

/**
 * Reads the size of a PNG. It must have one header, and no interlacing: pngjs inflates interlaced
 * images without a bound.
 */
function boundPNG(file: Buffer): Image | undefined {
  if (file.length < 33 || file.toString('latin1', 12, 16) !== 'IHDR' || file[28] !== 0) {
    return undefined;
  }
  for (let at = 33; at + 8 <= file.length; at += file.readUInt32BE(at) + 12) {
    if (file.toString('latin1', at + 4, at + 8) === 'IHDR') return undefined;
  }
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20), file };
}

const formats: readonly Format[] = [
  {
    name: 'PNG without interlacing',
    signature: Buffer.from('89504e470d0a1a0a', 'hex'),
    bound: boundPNG,
    decoder: 'pngjs',
  },
  {
    name: 'JPEG',
    signature: Buffer.from('ffd8ff', 'hex'),
    bound: boundJPEG,
    decoder: 'jpeg-js',
  },
];

const isAccepted = ({ width, height }: Size): boolean =>
  Math.min(width, height) >= 1 && Math.max(width, height) <= maxLogoSide;

/**
 * Decodes an uploaded logo, a PNG or JPEG in base64, and encodes its pixels as PNG, so that nothing
 * else of the file is served. Returns what is wrong with it if it cannot be a logo.
 */
export async function encodeLogo(
  upload: string,
): Promise<{ readonly png: Buffer } | { readonly fault: string }> {
  const text = upload.replace(/\s/g, '');
  const file = Buffer.from(text, 'base64');
  const format = formats.find(({ signature }) =>
    file.subarray(0, signature.length).equals(signature),
  );
  if (!format || file.toString('base64') !== text) {
    return { fault: 'must be a PNG or JPEG image in base64' };
  }
  if (file.length > maxLogoBytes) {
    return { fault: `must have at most ${maxLogoBytes} bytes (got ${file.length})` };
  }
  const bounded = format.bound(file);
  if (!bounded) return { fault: `must be a ${format.name}` };
  if (!isAccepted(bounded)) {
    return {
      fault: `must have at most ${maxLogoSide} x ${maxLogoSide} pixels (got ${bounded.width} x ${bounded.height})`,
    };
  }
  const image = await encodeInWorker(bounded.file, format).catch(() => undefined);
  if (!image) return { fault: `must be a complete ${format.name}` };
  if (!isAccepted(image)) return { fault: `must be a ${format.name} of one image` };
  const png = Buffer.from(image.file);
  return png.length <= maxLogoBytes
    ? { png }
    : { fault: `has ${png.length} bytes as PNG and may have ${maxLogoBytes}: use fewer pixels` };
}

/** Rejects if the file is damaged, or takes longer than the time limit. */
async function encodeInWorker(file: Buffer, { decoder }: Format): Promise<Image> {
  const { resolve } = createRequire(import.meta.url);
  const encoder = resolve('pngjs');
  const worker = new Worker(workerSource, {
    eval: true,
    workerData: { decoder: resolve(decoder), encoder, file, maxPixels: maxLogoSide ** 2 },
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  try {
    const [image] = await once(worker, 'message', {
      signal: AbortSignal.timeout(encodingTimeoutMs),
    });
    return image as Image;
  } finally {
    await worker.terminate();
  }
}

/** Returns the path of a logo, which contains its hash, so that it never changes. */
export const logoPath = (png: Buffer): string =>
  `/assets/logo-${createHash('sha256').update(png).digest('hex').slice(0, 32)}.png`;
