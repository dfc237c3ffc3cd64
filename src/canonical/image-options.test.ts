import { expect, test } from 'vitest';
import type { ImageOptions } from './image-options.ts';
import { readImageOptions } from './image-options.ts';
import { createReceipt } from './receipt.ts';

type ImageFields = Parameters<typeof readImageOptions>[0];

const NO_FIELDS = { size: undefined, quality: undefined, imageSize: undefined };

function read(fields: Partial<ImageFields>): {
  options: ImageOptions | undefined;
  lost: string[];
} {
  const receipt = createReceipt();
  const unknownWord = (field: string) => new Error(`unknown ${field}`);
  const options = readImageOptions({ ...NO_FIELDS, ...fields }, { receipt, unknownWord });
  return { options, lost: receipt.entries.map((entry) => entry.path) };
}

test.each([
  ['1280x720', '16:9'],
  ['720x1280', '9:16'],
  ['800x600', '4:3'],
  ['600x800', '3:4'],
  ['2560x1080', '21:9'],
  ['1024x1024', '1:1'],
  ['16:9', '16:9'],
  ['2:3', '2:3'],
])('V130 size %s is drawn as %s', (size, aspectRatio) => {
  expect(read({ size })).toMatchObject({ options: { aspectRatio }, lost: [] });
});

test.each(['invalid', '1920x0', 'abc x def', 'automatic', '', 'x', '-1x5'])(
  'V130 size %j does not parse and means 1024x1024, with a receipt',
  (size) => {
    expect(read({ size })).toEqual({ options: { aspectRatio: '1:1' }, lost: ['size'] });
  },
);

test.each([
  [{ quality: 'hd' }, '4K'],
  [{ quality: 'medium' }, '2K'],
  [{ quality: 'standard' }, '1K'],
  [{ quality: 'standard', imageSize: '4K' }, '4K'],
  [{ imageSize: '2k' }, '2K'],
])('V132 %j is drawn in %s', (body, size) => {
  expect(read(body).options?.size).toBe(size);
});

test('what was said of size and quality is kept as well', () => {
  const said = read({ size: ' 01024 X 1536', quality: 'HD' }).options;
  expect(said).toMatchObject({ pixels: '1024x1536', quality: 'hd' });
  expect(read({ quality: 'hd', imageSize: '2K' }).options).not.toHaveProperty('quality');
});

test('a body without image fields asks for no image options', () => {
  expect(read({}).options).toBeUndefined();
  expect(read({ quality: 'auto' }).options).toBeUndefined();
  expect(read({ size: 'auto' })).toEqual({ options: undefined, lost: [] });
});

test('within 0.1 of a ratio includes 0.1 itself', () => {
  expect(read({ size: '670x300' }).options?.aspectRatio).toBe('21:9');
  expect(read({ size: '669x300' }).options?.aspectRatio).toBe('1:1');
});

test.each([{ size: '7:5' }, { quality: 'fine' }, { imageSize: '3K' }])(
  '%j is refused in the words of the protocol',
  (fields) => {
    expect(() => read(fields)).toThrow(`unknown ${Object.keys(fields)[0]}`);
  },
);
