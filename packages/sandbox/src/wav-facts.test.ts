import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPeak, readWavFacts } from './pictures.ts';

interface Sound {
  readonly tag?: number;
  readonly bits: number;
  readonly channels?: number;
  readonly samples: Buffer;
  /** As the header states it. */
  readonly length?: number;
  readonly before?: Buffer;
}

const RATE = 100;

function wavOf({ tag = 1, bits, channels = 1, samples, length, before }: Sound): Buffer {
  const format = Buffer.alloc(tag === 0xfffe ? 40 : 16);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(RATE, 4);
  format.writeUInt32LE((RATE * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  if (tag === 0xfffe) format.writeUInt16LE(1, 24);
  const chunks = [chunk('fmt ', format), before ?? Buffer.alloc(0), chunk('data', samples, length)];
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks]);
}

function chunk(name: string, content: Buffer, length = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

/** Silence of a second, with one sample written by `write`. */
function second(bits: number, write: (samples: Buffer) => void): Buffer {
  const samples = Buffer.alloc((RATE * bits) / 8, bits === 8 ? 128 : 0);
  write(samples);
  return samples;
}

test.each([
  [1, 8, second(8, (samples) => samples.writeUInt8(64, 9))],
  [1, 16, second(16, (samples) => samples.writeInt16LE(-16_384, 20))],
  [0xfffe, 16, second(16, (samples) => samples.writeInt16LE(16_384, 20))],
  [1, 24, second(24, (samples) => samples.writeIntLE(4_194_304, 30, 3))],
  [1, 32, second(32, (samples) => samples.writeInt32LE(-1_073_741_824, 40))],
  [3, 32, second(32, (samples) => samples.writeFloatLE(0.5, 40))],
])('the loudest sample counts in coding %d of %d bits', (tag, bits, samples) => {
  const facts = readWavFacts(wavOf({ tag, bits, samples }));
  expect(facts).toMatchObject({
    sampleRate: RATE,
    channels: 1,
    bitsPerSample: bits,
    durationSeconds: 1,
  });
  expect(facts && findPeak(facts)).toBeCloseTo(0.5);
});

test('length is that of the sound which is there, in all its channels', () => {
  const samples = Buffer.alloc(RATE * 4);
  const before = chunk('LIST', Buffer.alloc(7));
  expect(readWavFacts(wavOf({ bits: 16, channels: 2, samples, before }))?.durationSeconds).toBe(1);
  const streamed = wavOf({ bits: 16, channels: 2, samples, length: 0xffff_ffff });
  expect(readWavFacts(streamed)?.durationSeconds).toBe(1);
  expect(readWavFacts(streamed.subarray(0, -RATE * 2))?.durationSeconds).toBe(0.5);
});

test('other codings have a length and no loudness', () => {
  const facts = readWavFacts(wavOf({ tag: 7, bits: 8, samples: Buffer.alloc(RATE) }));
  expect(facts?.durationSeconds).toBe(1);
  expect(facts && findPeak(facts)).toBeUndefined();
});

test('what is no WAV, or says nonsense, has no facts; nothing makes the reader fail', () => {
  const whole = wavOf({ bits: 16, samples: Buffer.alloc(20) });
  expect(readWavFacts(Buffer.from('OggS'))).toBeUndefined();
  expect(readWavFacts(whole.subarray(0, 40))).toBeUndefined();
  expect(readWavFacts(Buffer.from(whole).fill(0, 24, 28))).toBeUndefined();
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, value, end) => {
      const damaged = Buffer.from(whole);
      damaged[at] = value;
      const facts = readWavFacts(damaged.subarray(0, end));
      if (facts !== undefined) findPeak(facts);
    }),
  );
});
