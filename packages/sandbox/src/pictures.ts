// Pictures of one colour in the sizes of image models, and facts about inline media read from their bytes.

import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { Blob } from './wire.ts';

export interface PictureOrder {
  readonly prompt: string;
  readonly seed: number | undefined;
  readonly ratio: string;
  readonly size: string;
  /** The pictures to change; none for a new one. */
  readonly inputs: readonly Blob[];
  /** The number of an unfinished picture; absent for the finished one. */
  readonly draft?: number | undefined;
  /** Its pixels, where ratio and size do not say them. */
  readonly area?: PixelSize | undefined;
}

/** A PNG of one colour, which prompt, seed and inputs decide. The same order always gives the same bytes. */
export function drawPicture(order: PictureOrder): Buffer {
  const { prompt, seed, ratio, size, inputs, draft, area = areaOf(ratio, size) } = order;
  const text = JSON.stringify([prompt.trim(), seed ?? null, draft ?? null, inputs]);
  return writePng(area, createHash('sha256').update(text).digest().subarray(0, 3));
}

/** With a palette of this one colour, a pixel is one bit: three bytes each take half a second for 4K. */
function writePng({ width, height }: PixelSize, color: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 3], 8);
  // Before each row stands how it is filtered: not at all.
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return Buffer.concat([
    PNG_SIGNATURE,
    chunkOf('IHDR', header),
    chunkOf('PLTE', color),
    chunkOf('IDAT', deflateSync(rows)),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

type SizeClass = '1K' | '2K' | '4K';

export const DEFAULT_RATIO = '1:1';
export const DEFAULT_SIZE: SizeClass = '1K';

/** Pixels of the class 1K; the larger classes have twice and four times the sides. */
const AREAS: ReadonlyMap<string, PixelSize> = new Map([
  ['1:1', { width: 1024, height: 1024 }],
  ['2:3', { width: 848, height: 1264 }],
  ['3:2', { width: 1264, height: 848 }],
  ['3:4', { width: 896, height: 1200 }],
  ['4:3', { width: 1200, height: 896 }],
  ['4:5', { width: 928, height: 1152 }],
  ['5:4', { width: 1152, height: 928 }],
  ['9:16', { width: 768, height: 1376 }],
  ['16:9', { width: 1376, height: 768 }],
  ['21:9', { width: 1584, height: 672 }],
]);

export const ASPECT_RATIOS: readonly string[] = [...AREAS.keys()];

/** How often the sides of the class 1K go into those of the others. */
const SCALES: ReadonlyMap<string, 1 | 2 | 4> = new Map([
  ['1K', 1],
  ['2K', 2],
  ['4K', 4],
]);

export const SIZE_CLASSES: readonly string[] = [...SCALES.keys()];

/** Square for a ratio that is none. */
export function areaOf(ratio: string, size: string = DEFAULT_SIZE): PixelSize {
  const { width, height } = AREAS.get(ratio) ?? { width: 1024, height: 1024 };
  const scale = SCALES.get(size) ?? 1;
  return { width: width * scale, height: height * scale };
}

/** Output tokens of one picture. */
export function pictureTokens(size: string): number {
  return size === '4K' ? 2000 : 1120;
}

/** The ratio whose picture is most like this one in shape. */
export function nearestRatio({ width, height }: PixelSize): string {
  const distance = (ratio: string): number => {
    const area = areaOf(ratio);
    return Math.abs(Math.log((area.width * height) / (area.height * width)));
  };
  return ASPECT_RATIOS.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

interface PixelSize {
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Enough base64 to reach a JPEG's frame header behind an embedded thumbnail. */
const HEADER_CHARACTERS = 256 * 1024;

/** Such as `image/png 2x3 px, 77 bytes` or `audio/wav 1.5 s, 16000 Hz, 48044 bytes`. */
export function describeMedia(blob: Blob): string {
  const type = blob.mimeType ?? 'unknown type';
  const bytes = `${countBytes(blob.data ?? '')} bytes`;
  const sound = readSound(blob);
  if (sound !== undefined) {
    const { durationSeconds, sampleRate } = sound;
    return `${type} ${Math.round(durationSeconds * 1000) / 1000} s, ${sampleRate} Hz, ${bytes}`;
  }
  const size = readPictureSize(blob);
  if (size !== undefined) return `${type} ${size.width}x${size.height} px, ${bytes}`;
  return type.startsWith('image/') ? `${type} of unknown size, ${bytes}` : `${type} ${bytes}`;
}

/** Undefined for sounds that are no WAV. */
export function readSound({ mimeType = '', data = '' }: Blob): WavFacts | undefined {
  return mimeType.startsWith('audio/') ? readWavFacts(Buffer.from(data, 'base64')) : undefined;
}

/** The size in pixels that the picture's own header states. */
export function readPictureSize({ data = '' }: Blob): PixelSize | undefined {
  return readPixelSize(Buffer.from(data.slice(0, HEADER_CHARACTERS), 'base64'));
}

/** The size a PNG or JPEG header states; undefined for anything else. */
export function readPixelSize(bytes: Buffer): PixelSize | undefined {
  if (bytes.length >= 24 && bytes.subarray(0, 8).equals(PNG_SIGNATURE)) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? readJpegSize(bytes) : undefined;
}

/** Walks the segments up to the first frame header (SOF0–SOF15 without DHT, JPG, DAC). */
function readJpegSize(bytes: Buffer): PixelSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The number of bytes base64 text stands for, without decoding it. */
function countBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

// Source of the WAV reader: RIFF WAVE ("Multimedia Programming Interface and Data Specifications 1.0"), mmreg.h.

interface WavFacts {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
  readonly durationSeconds: number;
  /** How the samples are written: 1 as whole numbers, 3 as fractions. */
  readonly tag: number;
  readonly samples: Buffer;
}

interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSecond: number;
  readonly bitsPerSample: number;
}

const PLAIN = 1;
const FLOAT = 3;
/** The true tag then stands at the beginning of the sub-format. */
const EXTENSIBLE = 0xfffe;
const SUB_FORMAT_AT = 24;

/** Undefined for what is no whole WAV header with sound behind it. */
export function readWavFacts(bytes: Buffer): WavFacts | undefined {
  if (bytes.length < 12 || nameAt(bytes, 0) !== 'RIFF' || nameAt(bytes, 8) !== 'WAVE') {
    return undefined;
  }
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4);
    // Recorders that stream do not know the length yet: then the rest of the file is the sound.
    const content = bytes.subarray(at + 8, Math.min(bytes.length, at + 8 + length));
    if (nameAt(bytes, at) === 'fmt ') format = readFormat(content);
    if (nameAt(bytes, at) === 'data') return format && describe(format, content);
    at += 8 + length + (length % 2);
  }
  return undefined;
}

/** The loudest sample of all channels, 0 to 1 of full scale; undefined for codings other than plain samples. */
export function findPeak({ tag, bitsPerSample, samples }: WavFacts): number | undefined {
  const read = sampleReader(tag, bitsPerSample);
  if (read === undefined) return undefined;
  const step = bitsPerSample / 8;
  let peak = 0;
  for (let at = 0; at + step <= samples.length; at += step) {
    const level = Math.abs(read(samples, at));
    if (level > peak) peak = level;
  }
  return Math.min(1, peak);
}

function readFormat(content: Buffer): Format | undefined {
  if (content.length < 16) return undefined;
  const tag = content.readUInt16LE(0);
  const format = {
    tag:
      tag === EXTENSIBLE && content.length >= SUB_FORMAT_AT + 2
        ? content.readUInt16LE(SUB_FORMAT_AT)
        : tag,
    channels: content.readUInt16LE(2),
    sampleRate: content.readUInt32LE(4),
    bytesPerSecond: content.readUInt32LE(8),
    bitsPerSample: content.readUInt16LE(14),
  };
  return format.channels > 0 && format.sampleRate > 0 && format.bytesPerSecond > 0
    ? format
    : undefined;
}

function describe({ bytesPerSecond, ...format }: Format, samples: Buffer): WavFacts {
  return { ...format, durationSeconds: samples.length / bytesPerSecond, samples };
}

type SampleReader = (sound: Buffer, at: number) => number;

/** Samples of eight bits have no sign; 128 is silence. */
function sampleReader(tag: number, bits: number): SampleReader | undefined {
  if (tag === FLOAT && bits === 32) return (sound, at) => sound.readFloatLE(at);
  if (tag !== PLAIN) return undefined;
  switch (bits) {
    case 8:
      return (sound, at) => (sound.readUInt8(at) - 128) / 128;
    case 16:
      return (sound, at) => sound.readInt16LE(at) / 32_768;
    case 24:
      return (sound, at) => sound.readIntLE(at, 3) / 8_388_608;
    case 32:
      return (sound, at) => sound.readInt32LE(at) / 2_147_483_648;
    default:
      return undefined;
  }
}

function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}
