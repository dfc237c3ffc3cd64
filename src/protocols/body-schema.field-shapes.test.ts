import { expect, test } from 'vitest';
import type { JsonValue } from '../lib/json.ts';
import {
  ANYTHING,
  extendShape,
  noteUnknownFields,
  objectShape,
  taggedShape,
} from './body-schema.ts';

const part = taggedShape('type', {
  text: objectShape(['type', 'text']),
  image: objectShape(['type'], { source: objectShape(['url']) }),
});
const shape = extendShape(objectShape(['model', 'metadata']), [], { parts: part });

const unknownIn = (value: JsonValue): readonly string[] => {
  const paths: string[] = [];
  noteUnknownFields(value, { shape, path: '', note: (path) => paths.push(path) });
  return paths;
};

test('unknown fields are found at any depth, in lists and in single objects', () => {
  expect(
    unknownIn({
      model: 'm',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', tone: 'dry' },
        { type: 'image', source: { url: 'u', size: 1 }, alt: 'x' },
      ],
      mode: 'fast',
    }),
  ).toEqual(['parts[1].tone', 'parts[2].source.size', 'parts[2].alt', 'mode']);
  expect(unknownIn({ parts: { type: 'text', tone: 'dry' } })).toEqual(['parts.tone']);
});

test('fields that say nothing, free objects and kinds nobody knows are left alone', () => {
  expect(
    unknownIn({
      metadata: { any: { thing: 1 } },
      seen: false,
      hints: [],
      // LiteLLM puts the nulls of an answer into such an object and sends it back with the message.
      provider_specific_fields: { refusal: null, details: { images: [] } },
      parts: ['text', null, { type: 'new', anything: 1 }, { type: 'text', cited: null }],
    }),
  ).toEqual([]);
  noteUnknownFields({ any: 1 }, { shape: ANYTHING, path: '', note: () => expect.fail() });
});
