import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { ImageOptions } from '../canonical/image-options.ts';
import { applyTransforms } from './index.ts';

const drawn = (asked: ImageOptions | undefined, named: ImageOptions | undefined) =>
  applyTransforms(requestOf({ turns: [user('x')], image: asked }), contextFor(named)).image;

const contextFor = (named: ImageOptions | undefined, drawsImages = true) =>
  contextOf({
    capabilities: capabilitiesOf({ drawsImages }),
    variant: { webSearch: false, image: named },
  });

test('P112 V133 ratio and size of the model name count where the request says nothing', () => {
  expect(drawn(undefined, { aspectRatio: '16:9', size: '4K' })).toEqual({
    aspectRatio: '16:9',
    size: '4K',
  });
  expect(drawn({ aspectRatio: '1:1' }, { aspectRatio: '16:9', size: '4K' })).toEqual({
    aspectRatio: '1:1',
    size: '4K',
  });
});

test('V132 the request wins over the model name', () => {
  expect(drawn({ size: '2K' }, { size: '4K' })).toEqual({ size: '2K' });
});

test('a name without them changes nothing', () => {
  expect(drawn(undefined, undefined)).toBeUndefined();
  expect(drawn({ size: '2K' }, undefined)).toEqual({ size: '2K' });
});

test('C4: a size and a ratio of the request win over the model name, and the receipt says so', () => {
  const context = contextFor({ aspectRatio: '16:9', size: '4K' });
  const image = { aspectRatio: '1:1', size: '1K' } as const;
  const { image: drawn } = applyTransforms(requestOf({ turns: [user('x')], image }), context);
  expect(drawn).toEqual({ aspectRatio: '1:1', size: '1K' });
  expect(context.receipt.entries).toMatchObject([
    { path: 'model', reason: { text: expect.stringMatching(/^The ratio in the request takes/) } },
    { path: 'model', reason: { text: expect.stringMatching(/^The size in the request takes/) } },
  ]);
});

test('a model that draws nothing is not asked for a size, and the receipt says so', () => {
  const context = contextFor({ size: '4K' }, false);
  const request = requestOf({ turns: [user('x')] });
  expect(applyTransforms(request, context).image).toBeUndefined();
  expect(context.receipt.entries).toMatchObject([{ action: 'dropped', path: 'model' }]);
});
