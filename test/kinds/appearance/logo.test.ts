import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { encodeLogo, logoPath } from '../../../kinds/appearance/logo.js';
import { seed } from '../../support/random.js';
import { isQuick } from '../../support/stores.js';
import { chunk, header, jpg, png, signature } from './images.js';

/**
 * One byte of so many is damaged, by the seed, since each file takes a thread of its own: so many runs
 * damage all.
 */
const everyByte = isQuick ? 16 : 4;

const encode = (file: Buffer) => encodeLogo(file.toString('base64'));
const faultOf = async (file: Buffer): Promise<string> =>
  ((await encode(file)) as { fault: string }).fault;
async function pngOf(file: Buffer): Promise<Buffer> {
  const encoded = await encode(file);
  if ('fault' in encoded) throw new Error(encoded.fault);
  return encoded.png;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** A progressive JPEG of 512 x 512 pixels with Huffman tables of one code, and these scans. */
const progressive = (scans: readonly Buffer[], components = '03 012200 021101 031101'): Buffer =>
  Buffer.concat([
    hex('ffd8'),
    hex(`ffc2 ${length(components, 8)} 08 0200 0200 ${components}`),
    hex(`ffc4 0014 00 01 ${'00'.repeat(15)} 00`),
    hex(`ffc4 0014 10 01 ${'00'.repeat(15)} e0`),
    ...scans,
    hex('ffd9'),
  ]);

/** The length of a segment as its two bytes say it. */
const length = (bytes: string, more: number): string =>
  (bytes.replaceAll(' ', '').length / 2 - 1 + more).toString(16).padStart(4, '0');

/** A scan of one component whose blocks are all at their end. */
const emptyScan = hex('ffda 0008 01 0100 013f00 0000 0000');

/** A scan of so many components, all of them the first one. */
const wideScan = (count: number): Buffer => {
  const components = `${count.toString(16).padStart(2, '0')}${'0100'.repeat(count)}`;
  return hex(`ffda ${length(components, 6)} ${components} 000000`);
};

describe('a logo', () => {
  test('keeps the pixels of a PNG and nothing else of the file', async () => {
    const secret = chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'));
    const encoded = await pngOf(png(40, 20, [secret]));
    expect(encoded.includes('script')).toBe(false);
    const { width, height, data } = PNG.sync.read(encoded);
    expect([width, height]).toEqual([40, 20]);
    expect([...data.subarray(0, 4)]).toEqual([61, 63, 184, 255]);
  });

  test('becomes a PNG from a JPEG, and the same one again when it is encoded again', async () => {
    const encoded = await pngOf(jpg(33, 17));
    const { width, height } = PNG.sync.read(encoded);
    expect([width, height]).toEqual([33, 17]);
    expect(logoPath(await pngOf(encoded))).toBe(logoPath(encoded));
  });

  test('loses the metadata of a JPEG before it is decoded', async () => {
    const file = jpg(20, 20);
    const comment = hex('fffe 0008 ffda ffda ffda');
    const withComment = Buffer.concat([file.subarray(0, 2), comment, file.subarray(2)]);
    expect(await encode(withComment)).toEqual(await encode(file));
  });

  test('may be wrapped as base64 prints it', async () => {
    const lines = png(64, 64).toString('base64').replace(/.{76}/g, '$&\n');
    expect(await encodeLogo(lines)).toEqual(await encode(png(64, 64)));
  });

  test('may be as large as 512 x 512', async () => {
    expect(PNG.sync.read(await pngOf(png(512, 512))).width).toBe(512);
    expect(PNG.sync.read(await pngOf(jpg(512, 512))).width).toBe(512);
  });

  test.each<[string, Buffer, RegExp]>([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /PNG or JPEG/],
    ['a GIF', Buffer.from('GIF89a'), /PNG or JPEG/],
    ['nothing', Buffer.alloc(0), /PNG or JPEG/],
    ['a signature alone', signature, /must be a PNG/],
    ['a wider PNG', png(513, 1), /at most 512 x 512 pixels \(got 513 x 1\)/],
    ['a higher JPEG', jpg(8, 520), /at most 512 x 512 pixels \(got 8 x 520\)/],
    [
      'a PNG that declares 65535 x 65535 pixels',
      Buffer.concat([
        signature,
        header(65_535, 65_535),
        chunk('IDAT', deflateSync(Buffer.alloc(1))),
      ]),
      /got 65535 x 65535/,
    ],
    [
      'a PNG without pixels',
      Buffer.concat([signature, header(0, 10), chunk('IEND', Buffer.alloc(0))]),
      /got 0 x 10/,
    ],
    ['a PNG with a second, larger header', png(10, 10, [header(60_000, 60_000)]), /must be a PNG/],
    [
      'an interlaced PNG, which could inflate without a bound',
      Buffer.concat([
        signature,
        header(512, 512, 1),
        chunk('IDAT', deflateSync(Buffer.alloc(64 << 20))),
        chunk('IEND', Buffer.alloc(0)),
      ]),
      /without interlacing/,
    ],
    [
      'a PNG with something after its end',
      Buffer.concat([png(4, 4), Buffer.from('<html>')]),
      /must be a complete PNG/,
    ],
    ['half a PNG', png(300, 300).subarray(0, 300), /must be a complete PNG/],
    ['half a JPEG', jpg(300, 300).subarray(0, 400), /must be a complete JPEG|must be a JPEG/],
    ['a JPEG of thousands of scans', progressive(Array(10_000).fill(emptyScan)), /must be a JPEG/],
    ['a JPEG with scans of 255 components', progressive([wideScan(255)]), /must be a JPEG/],
    [
      'a JPEG of 255 components',
      progressive([emptyScan], `ff${'011100'.repeat(255)}`),
      /must be a JPEG/,
    ],
    ['a JPEG with extreme sampling', progressive([emptyScan], '01 01ff00'), /must be a JPEG/],
    [
      'a JPEG with a second, larger frame',
      progressive([emptyScan, hex('ffc0 000b 08 ffff 0004 01 011100')]),
      /must be a JPEG/,
    ],
    ['more than 256 KiB', Buffer.concat([png(10, 10), Buffer.alloc(256 << 10)]), /262144 bytes/],
  ])('is not %s', async (_, file, fault) => {
    expect(await faultOf(file)).toMatch(fault);
  });

  test('is not text with other letters than those of base64', async () => {
    expect(await encodeLogo(`${png(4, 4).toString('base64')}*`)).toHaveProperty('fault');
  });

  test('whose data inflates to more than its pixels is cut to them', async () => {
    const bomb = Buffer.concat([
      signature,
      header(8, 8),
      chunk('IDAT', deflateSync(Buffer.alloc(32 << 20))),
      chunk('IEND', Buffer.alloc(0)),
    ]);
    const before = process.memoryUsage().arrayBuffers;
    const outcome = await encode(bomb);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 << 20);
    expect('fault' in outcome || outcome.png.length < 1000).toBe(true);
  });

  test('is decoded beside the event loop, which goes on', async () => {
    const turns = async (work: Promise<unknown>): Promise<number> => {
      let count = 0;
      const timer = setInterval(() => (count += 1), 1);
      await work.finally(() => clearInterval(timer));
      return count;
    };
    // Work on this thread lets no timer run until it is over.
    expect(await turns(encode(jpg(512, 512)))).toBeGreaterThan(0);
  });

  test('survives any damage to a file: it is a PNG or refused', async () => {
    const damaged = [png(24, 24), jpg(24, 24)].flatMap((file) =>
      [...file.keys()]
        .filter((at) => (at + seed) % everyByte === 0)
        .flatMap((at) =>
          [0x01, 0xff].map((bits) => {
            const copy = Buffer.from(file);
            copy[at]! ^= bits;
            return copy;
          }),
        ),
    );
    const encodeDamaged = async (): Promise<void> => {
      for (let file = damaged.pop(); file; file = damaged.pop()) {
        const outcome = await encode(file);
        if ('png' in outcome) {
          expect(PNG.sync.read(outcome.png).width).toBeLessThanOrEqual(512);
        } else {
          expect(outcome.fault).toMatch(/^(must|has) /);
        }
      }
    };
    await Promise.all([encodeDamaged(), encodeDamaged(), encodeDamaged(), encodeDamaged()]);
  });
});
