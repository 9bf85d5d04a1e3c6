/** A JPEG as it may be decoded. */
export interface BoundedJPEG {
  readonly width: number;
  readonly height: number;
  /** The file without metadata. */
  readonly file: Buffer;
}

/** The most scans; each costs a pass over all blocks. Progressive files have about ten. */
const maxScans = 64;

/** The most components of an image, and the largest sampling factor (ITU-T T.81 §B.2.2). */
const maxComponents = 4;
const maxSampling = 4;

const startOfScan = 0xda;
const frames = [0xc0, 0xc1, 0xc2];

/** APP0 to APP15 except Adobe's APP14, which says how colours are stored, and comments. */
const isMetadata = (marker: number): boolean =>
  marker === 0xfe || (marker >= 0xe0 && marker <= 0xef && marker !== 0xee);

const isFactor = (factor: number): boolean => factor >= 1 && factor <= maxSampling;

/** Returns the size in a frame header, if its components are bounded. */
function sizeOf(header: Buffer): { width: number; height: number } | undefined {
  const count = header[9] ?? 0;
  if (count < 1 || count > maxComponents || header.length !== 10 + 3 * count) return undefined;
  for (let at = 11; at < header.length; at += 3) {
    if (!isFactor(header[at]! >> 4) || !isFactor(header[at]! & 15)) return undefined;
  }
  return { height: header.readUInt16BE(5), width: header.readUInt16BE(7) };
}

/** Whether what follows the header has no other frame, and few scans of few components. */
function areBounded(scans: Buffer): boolean {
  let count = 0;
  for (let at = scans.indexOf(0xff); at >= 0; at = scans.indexOf(0xff, at + 1)) {
    const marker = scans[at + 1] ?? 0;
    if (frames.includes(marker)) return false;
    if (marker !== startOfScan) continue;
    count += 1;
    const components = scans[at + 4] ?? 0;
    if (count > maxScans || components < 1 || components > maxComponents) return false;
  }
  return count > 0;
}

/**
 * Reads the header of a JPEG. Returns undefined if it is malformed, or if decoding could take
 * longer than its size suggests: jpeg-js decodes 255 components in any number of scans.
 */
export function boundJPEG(file: Buffer): BoundedJPEG | undefined {
  const kept = [file.subarray(0, 2)];
  let size: ReturnType<typeof sizeOf>;
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff && file[at + 1] !== startOfScan) {
    const marker = file[at + 1]!;
    const segment = file.subarray(at, at + 2 + file.readUInt16BE(at + 2));
    if (frames.includes(marker)) {
      if (size) return undefined;
      size = sizeOf(segment);
    }
    if (!isMetadata(marker)) kept.push(segment);
    at += segment.length;
  }
  const scans = file.subarray(at);
  return size && areBounded(scans) ? { ...size, file: Buffer.concat([...kept, scans]) } : undefined;
}
