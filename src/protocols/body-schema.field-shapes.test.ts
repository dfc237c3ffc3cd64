import { expect, test } from 'vitest';
import type { JsonValue } from '../lib/json.ts';
import {
  ANYTHING,
  checkShape,
  extendShape,
  FILLED,
  listOf,
  needed,
  noteUnknownFields,
  numberIn,
  objectOf,
  objectShape,
  openObjectOf,
  STRING,
  taggedShape,
  textOrListOf,
  wordOf,
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

const body = objectOf(
  {
    model: needed(FILLED),
    limit: numberIn({ min: 1, integer: true }),
    effort: wordOf(['low', 'high']),
    turns: listOf(
      taggedShape('role', {
        user: objectOf({ content: textOrListOf(objectOf({ text: STRING }), 'named') }, ['role']),
      }),
    ),
    open: openObjectOf({ id: STRING }),
  },
  ['hint'],
);

test.each<[string, JsonValue]>([
  ['model missing', {}],
  ['model missing', { model: null }],
  ['model string', { model: '' }],
  ['limit number', { model: 'm', limit: 0 }],
  ['effort string', { model: 'm', effort: 'more' }],
  ['turns list', { model: 'm', turns: {} }],
  ['turns.1.role missing', { model: 'm', turns: [{ role: 'user' }, {}] }],
  ['turns.0.content list', { model: 'm', turns: [{ role: 'user', content: 1 }] }],
  [
    'turns.0.content.1.text string',
    { model: 'm', turns: [{ role: 'user', content: [{}, { text: 1 }] }] },
  ],
  ['open.id string', { model: 'm', open: { id: 1 } }],
  [' object', []],
])('%s is wrong with %j', (told, value) => {
  const check = () =>
    checkShape(value, body, (fault) => {
      const what = fault.value === undefined ? 'missing' : fault.shape.kind;
      return new Error(`<${fault.path} ${what}>`);
    });
  expect(check).toThrow(`<${told}>`);
});

test('a sound value is given as it is, with the places of fields nobody knows', () => {
  const value = {
    model: 'm',
    limit: null,
    hint: { any: 1 },
    turns: [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: [{ text: 'a', tone: 'dry', mute: false }] },
      { role: 'later', anything: 1 },
    ],
    open: { id: 'x', other: 1 },
    mode: 'fast',
  };
  const checked = checkShape(value, body, () => expect.fail());
  expect(checked.value).toBe(value);
  expect(checked.unknown).toEqual(['turns[1].content[0].tone', 'mode']);
  expect(checkShape({ model: 'm' }, body, () => expect.fail()).unknown).toBeUndefined();
});
