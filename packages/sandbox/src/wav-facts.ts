// Facts about a WAV recording read from its bytes: length, sample rate, channels, and how loud it gets.
// Source: RIFF WAVE ("Multimedia Programming Interface and Data Specifications 1.0"), format tags of mmreg.h.

export interface WavFacts {
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
