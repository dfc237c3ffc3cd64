// Pictures in end-to-end tests: what is drawn, read from its bytes, and pictures to send.

import { toFile } from 'openai';
import { PNG as Picture } from 'pngjs';
import { PNG } from './prompts.ts';

export const IMAGE_MODEL = 'alpha-3-pro-image';

/** Width and height, from the header alone: the whole of a large picture takes long to unpack. */
export function pixelsOf(base64: string | undefined): readonly number[] {
  const header = Buffer.from(base64?.slice(0, 64) ?? '', 'base64');
  if (header.toString('latin1', 1, 4) !== 'PNG') throw new Error('This is no PNG.');
  return [header.readUInt32BE(16), header.readUInt32BE(20)];
}

export function unpack(base64: string | undefined): Picture {
  return Picture.sync.read(Buffer.from(base64 ?? '', 'base64'));
}

/** Red, green and blue. */
export function colorAt(picture: Picture, x: number, y: number): readonly number[] {
  const at = (Math.floor(y) * picture.width + Math.floor(x)) * 4;
  return [...picture.data.subarray(at, at + 3)];
}

/** A PNG of eight by eight pixels of one colour. */
export function pictureOf(color: readonly [number, number, number]): Buffer {
  const picture = new Picture({ width: 8, height: 8 });
  for (let at = 0; at < picture.data.length; at += 4) picture.data.set([...color, 255], at);
  return Picture.sync.write(picture);
}

export async function pngFile(name: string): Promise<File> {
  return toFile(Buffer.from(PNG, 'base64'), name, { type: 'image/png' });
}
