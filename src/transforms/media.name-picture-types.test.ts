import { expect, test } from 'vitest';
import { contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { MediaPart, Modality } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const sentFor = (mediaType: string, base64: string, modality: Modality = 'image') => {
  const context = contextOf();
  const part: MediaPart = {
    kind: 'media',
    modality,
    mediaType,
    source: { kind: 'base64', base64 },
  };
  const { turns } = applyTransforms(requestOf({ turns: [user(part)] }), context);
  return { part: turns[0]?.parts[0], actions: context.receipt.entries.map(({ action }) => action) };
};

const JPEG = '/9j/4AAQSkZJRgABAQAAAQABAAA=';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
const WEBP = 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4H';
const HEIC = 'AAAAGGZ0eXBoZWljAAAAAA==';

test.each([
  ['image/png', JPEG, 'image/jpeg'],
  ['image/jpeg', PNG, 'image/png'],
  ['image/gif', WEBP, 'image/webp'],
])('P120 a picture that is called %s goes as what its bytes are', (called, base64, mediaType) => {
  expect(sentFor(called, base64)).toMatchObject({ part: { mediaType }, actions: ['repaired'] });
});

test.each([
  ['image/png', PNG],
  ['image/heif', HEIC],
  ['image/avif', 'AAAAIGZ0eXBhdmlmAAAAAA=='],
  ['image/png', 'AAA='],
])('a picture whose bytes tell nothing else stays %s', (mediaType, base64) => {
  expect(sentFor(mediaType, base64)).toMatchObject({ part: { mediaType }, actions: [] });
});

test('what is no picture keeps its type', () => {
  const sent = sentFor('application/pdf', PNG, 'document');
  expect(sent).toMatchObject({ part: { mediaType: 'application/pdf' }, actions: [] });
});
