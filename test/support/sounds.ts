// Recordings in end-to-end tests.

/** A WAV of one channel of 16 bits whose loudest sample is `peak` of full scale. */
export function wavOf({
  seconds,
  peak,
  sampleRate = 8000,
}: {
  readonly seconds: number;
  readonly peak: number;
  readonly sampleRate?: number;
}): Buffer {
  const samples = Buffer.alloc(Math.round(seconds * sampleRate) * 2);
  if (peak > 0) samples.writeInt16LE(-Math.round(peak * 32_768), 2);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
