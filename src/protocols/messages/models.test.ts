import { expect, test } from 'vitest';
import type { ListedModel } from '../../canonical/model.ts';
import { writeFamilyList, writeModel, writeModelList } from './models.ts';

const model = (id: string): ListedModel => ({
  id,
  displayName: id.toUpperCase(),
  description: '',
  createdAt: 1_700_000_000,
  inputTokenLimit: 200_000,
  outputTokenLimit: 64_000,
  supportsThinking: true,
  drawsImages: false,
  tasks: ['generate'],
});

const MODELS = ['alpha-3-flash', 'beta-opus-4-6', 'beta-sonnet-4-6', 'claude-x', 'gpt-4o'].map(
  model,
);

const list = (query: string) => writeModelList(MODELS, new URLSearchParams(query));

const ids = (query: string) => {
  const { data, has_more } = list(query);
  return [Array.isArray(data) && data.map((entry) => Object(entry).id).join(), has_more];
};

test('an element has the keys of both protocols that share the path', () => {
  expect(writeModel(model('beta-sonnet-4-6'))).toEqual({
    type: 'model',
    id: 'beta-sonnet-4-6',
    display_name: 'BETA-SONNET-4-6',
    created_at: '2023-11-14T22:13:20Z',
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    lifecycle: 'active',
    line: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    object: 'model',
    created: 1_700_000_000,
    owned_by: 'isthmus',
  });
});

test('without a limit the whole list is one page', () => {
  expect(list('')).toMatchObject({
    object: 'list',
    has_more: false,
    first_id: 'alpha-3-flash',
    last_id: 'gpt-4o',
  });
});

test('limit, after_id and before_id page through the list and end', () => {
  expect(ids('limit=2')).toEqual(['alpha-3-flash,beta-opus-4-6', true]);
  expect(ids('limit=2&after_id=beta-opus-4-6')).toEqual(['beta-sonnet-4-6,claude-x', true]);
  expect(ids('limit=2&after_id=claude-x')).toEqual(['gpt-4o', false]);
  expect(ids('limit=2&before_id=claude-x')).toEqual(['beta-opus-4-6,beta-sonnet-4-6', true]);
  expect(ids('limit=2&before_id=beta-opus-4-6')).toEqual(['alpha-3-flash', false]);
  expect(ids('after_id=nope')).toEqual(['', false]);
  expect(ids('limit=0')).toEqual(['alpha-3-flash', true]);
  expect(ids('lifecycle=retired')).toEqual(['', false]);
});

test('an empty page names no ids', () => {
  expect(writeModelList([], new URLSearchParams())).toMatchObject({
    first_id: null,
    last_id: null,
  });
});

test('the family list holds this protocol’s own names in both vocabularies', () => {
  const { data } = writeFamilyList(MODELS, new URLSearchParams());
  expect(Array.isArray(data) && data.map((entry) => Object(entry).id)).toEqual([
    'beta-opus-4-6',
    'beta-sonnet-4-6',
    'claude-x',
  ]);
});
