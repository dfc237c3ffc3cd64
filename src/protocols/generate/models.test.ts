import { expect, test } from 'vitest';
import type { ListedModel } from '../../canonical/model.ts';
import { writeModel, writeModels } from './models.ts';

function modelOf(id: string): ListedModel {
  return {
    id,
    displayName: `The ${id}`,
    description: 'A model.',
    createdAt: 1_700_000_000,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportsThinking: true,
    drawsImages: false,
    tasks: ['generate'],
  };
}

const MODELS = ['a', 'b', 'c'].map(modelOf);
const list = (query: string) => writeModels(MODELS, new URLSearchParams(query), '/v1beta');
const namesOf = (body: ReturnType<typeof list>): unknown =>
  Array.isArray(body.models) ? body.models.map((model) => Object(model).name) : undefined;

test('a model has the official fields and the product’s own', () => {
  expect(writeModel(modelOf('a'), '/v1beta')).toEqual({
    name: 'models/a',
    baseModelId: 'a',
    version: '1',
    displayName: 'The a',
    description: 'A model.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    maxOutputTokens: 65_536,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    supportsThinking: true,
    thinking: true,
    temperature: 1,
    maxTemperature: 2,
    topP: 0.95,
    topK: 64,
  });
});

test('a model whose limits nobody tells has the fields all the same: the contract names them', () => {
  const untold = { ...modelOf('a'), inputTokenLimit: undefined, outputTokenLimit: undefined };
  const { inputTokenLimit, outputTokenLimit, maxOutputTokens } = writeModel(untold, '/v1beta');
  expect([inputTokenLimit, outputTokenLimit, maxOutputTokens]).toEqual([1_048_576, 65_536, 65_536]);
});

test('a model that embeds has the methods of that alone', () => {
  const { supportedGenerationMethods } = writeModel({ ...modelOf('a'), tasks: ['embed'] }, '/v1');
  expect(supportedGenerationMethods).toEqual(['embedContent', 'batchEmbedContents', 'countTokens']);
});

test('without paging the whole list comes at once', () => {
  expect(namesOf(list('key=k'))).toEqual(['models/a', 'models/b', 'models/c']);
  expect(list('pageSize=0')).not.toHaveProperty('nextPageToken');
});

test('pages follow each other by their tokens', () => {
  const first = list('pageSize=2');
  expect(namesOf(first)).toEqual(['models/a', 'models/b']);
  const second = list(`pageSize=2&pageToken=${first.nextPageToken}`);
  expect(namesOf(second)).toEqual(['models/c']);
  expect(second).not.toHaveProperty('nextPageToken');
});

test.each(['pageSize=-1', 'pageSize=two', 'pageSize=1.5', 'pageToken=nonsense'])(
  'the query %s is refused',
  (query) => {
    expect(() => list(query)).toThrow(/page/);
  },
);

test('under the shared prefix the answer suits the parsers of all three protocols', () => {
  const body = writeModels(MODELS, new URLSearchParams(), '/v1');
  expect(body).toMatchObject({
    object: 'list',
    has_more: false,
    first_id: 'a',
    last_id: 'c',
    data: [
      {
        id: 'a',
        object: 'model',
        created: 1_700_000_000,
        owned_by: 'isthmus',
        type: 'model',
        display_name: 'The a',
        created_at: '2023-11-14T22:13:20Z',
      },
      { id: 'b' },
      { id: 'c' },
    ],
    models: [{ name: 'models/a' }, { name: 'models/b' }, { name: 'models/c' }],
  });
  expect(writeModel(modelOf('a'), '/v1')).toMatchObject({
    name: 'models/a',
    id: 'a',
    object: 'model',
  });
});
