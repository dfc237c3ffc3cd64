// Facts about inline media read from its bytes: type, size in pixels or length where a header tells, byte count.

import { readWavFacts, type WavFacts } from './wav-facts.ts';
import type { Blob } from './wire.ts';

export interface PixelSize {
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
