import { expect, test } from 'vitest';
import { contextOf, requestOf, user } from '../../test/support/canonical.ts';
import { applyTransforms } from './index.ts';

const FIELDS = {
  background: 'transparent',
  complexity: 'low',
  output_format: 'png',
  style: 'vivid',
  moderation: 'low',
};
const REQUEST = requestOf({
  turns: [user({ kind: 'text', text: 'a cat' })],
  imageDetails: { path: 'tools[0]', fields: FIELDS },
});

test('a model without such fields is asked for what happens anyway, and the rest is told', () => {
  const context = contextOf();
  expect(applyTransforms(REQUEST, context).imageDetails?.fields).toEqual({});
  expect(context.receipt.entries).toMatchObject([
    { action: 'dropped', path: 'tools[0].background' },
    { action: 'dropped', path: 'tools[0].moderation' },
    { action: 'dropped', path: 'tools[0].style' },
  ]);
});

test('a model gets those that it has fields for', () => {
  const context = contextOf();
  const { style, complexity, ...taken } = FIELDS;
  const capabilities = {
    ...context.capabilities,
    imageDetails: ['background', 'output_format', 'moderation'] as const,
  };
  const { imageDetails } = applyTransforms(REQUEST, { ...context, capabilities });
  expect(imageDetails?.fields).toEqual(taken);
  expect(context.receipt.entries).toMatchObject([{ path: 'tools[0].style' }]);
});
