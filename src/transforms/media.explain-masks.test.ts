import { expect, test } from 'vitest';
import { contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { MediaPart } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
const PICTURE: MediaPart = {
  kind: 'media',
  modality: 'image',
  mediaType: 'image/png',
  source: { kind: 'base64', base64: PNG },
};
const REQUEST = requestOf({
  turns: [user(PICTURE, { ...PICTURE, isMask: true }, { kind: 'text', text: 'a hat' })],
});

test('a mask is explained to a model that has no place for one, with a receipt', () => {
  const context = contextOf();
  const [turn] = applyTransforms(REQUEST, context).turns;
  expect(turn?.parts.map(({ kind }) => kind)).toEqual(['media', 'media', 'text', 'text']);
  expect(turn?.parts[2]).toMatchObject({ text: expect.stringContaining('mask for the first') });
  expect(context.receipt.entries).toMatchObject([{ action: 'approximated', path: 'mask' }]);
});

test('where a mask has a place of its own nothing is said of it', () => {
  const context = contextOf();
  const { capabilities } = context;
  const taking = { ...context, capabilities: { ...capabilities, takesMasks: true as const } };
  expect(applyTransforms(REQUEST, taking).turns[0]?.parts).toHaveLength(3);
  expect(context.receipt.entries).toEqual([]);
});
