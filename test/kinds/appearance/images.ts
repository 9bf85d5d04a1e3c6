import { crc32, deflateSync } from 'node:zlib';
import jpeg from 'jpeg-js';

/** One chunk of a PNG. */
export function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(8 + typed.length);
  whole.writeUInt32BE(data.length, 0);
  typed.copy(whole, 4);
  whole.writeUInt32BE(crc32(typed), 4 + typed.length);
  return whole;
}

/** The header of a PNG with 8 bits of red, green and blue. */
export function header(width: number, height: number, interlace = 0): Buffer {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, interlace]);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return chunk('IHDR', data);
}

export const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** A PNG in one colour, with more chunks after its header. */
export function png(width: number, height: number, more: readonly Buffer[] = []): Buffer {
  const row = Buffer.concat([
    Buffer.from([0]),
    Buffer.alloc(width * 3, Buffer.from([61, 63, 184])),
  ]);
  const pixels = Buffer.concat(Array.from({ length: height }, () => row));
  return Buffer.concat([
    signature,
    header(width, height),
    ...more,
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A JPEG in one colour. */
export const jpg = (width: number, height: number): Buffer =>
  jpeg.encode({ width, height, data: Buffer.alloc(width * height * 4, 200) }, 90).data;
