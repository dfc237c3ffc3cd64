// No answer has a field, a word or a type that the vendors' documents do not have.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Documents, GENERATE, MESSAGES } from './documented-fields.ts';

/** What of `value` is not as the entry or type says, as `path: fault`. */
function faultsOf(
  documents: Documents,
  value: JsonValue | undefined,
  type: string | readonly string[],
  path = '',
): string[] {
  if (typeof type !== 'string') {
    return type.includes(String(value)) ? [] : [`${path}: ${JSON.stringify(value)}`];
  }
  if (type === 'any') return [];
  if (type.endsWith('|null')) {
    return value === null ? [] : faultsOf(documents, value, type.slice(0, -5), path);
  }
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${path}: no list`];
    return value.flatMap((item) => faultsOf(documents, item, type.slice(0, -2), `${path}[]`));
  }
  if (/^[a-z]+$/.test(type)) return typeof value === type ? [] : [`${path}: no ${type}`];
  const tag = type.endsWith(':') && isJsonObject(value) ? value.type : '';
  const fields = documents[`${type}${tag}`];
  if (fields === undefined) return [`${path}: no ${type}${tag}`];
  if (fields[''] !== undefined) return faultsOf(documents, value, fields[''], path);
  if (!isJsonObject(value)) return [`${path}: no object`];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = fields[name];
    const place = `${path}.${name}`;
    return known === undefined ? [`${place}: unknown`] : faultsOf(documents, member, known, place);
  });
}

const STREAMS = new URL('./streams/', import.meta.url);
const names = (kind: string): string[] =>
  readdirSync(STREAMS).filter((name) => name.endsWith(`.${kind}.golden`));
const textOf = (name: string): string => readFileSync(new URL(name, STREAMS), 'utf8');

/** The objects of a stream in either framing, or the body of a refusal. */
function objectsOf(text: string): JsonObject[] {
  if (text.startsWith('HTTP ')) return [text.slice(text.indexOf('\n'))].map(parsed);
  const lines = text.split('\n');
  const data = text.startsWith('[')
    ? lines.map((line) => line.replace(/^[[,]/, '').replace(/\]$/, ''))
    : lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
  return data.filter((json) => json.trim() !== '').map(parsed);
}

function parsed(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error(`no object: ${text}`);
  return value;
}

test('every event of a Messages stream is documented', () => {
  const events = names('messages').flatMap((name) => objectsOf(textOf(name)));
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThanOrEqual(7);
  expect(events.flatMap((event) => faultsOf(MESSAGES, event, 'event:'))).toEqual([]);
});

test('every frame of a translated Generate-Content stream is documented', () => {
  const frames = names('generate').flatMap((name) => objectsOf(textOf(name)));
  expect(frames.length).toBeGreaterThan(200);
  const typeOf = (frame: JsonObject) => ('error' in frame ? 'Refusal' : 'Answer');
  expect(frames.flatMap((frame) => faultsOf(GENERATE, frame, typeOf(frame)))).toEqual([]);
});

test('every whole answer is documented', () => {
  const faults = names('reply').flatMap((name) => {
    const { messages, generate } = parsed(textOf(name));
    if (!isJsonObject(messages) || !isJsonObject(generate)) throw new Error(name);
    return [
      ...('status' in messages
        ? faultsOf(MESSAGES, messages.body, 'event:')
        : faultsOf(MESSAGES, messages, 'Message')),
      ...('status' in generate
        ? faultsOf(GENERATE, generate.body, 'Refusal')
        : faultsOf(GENERATE, generate, 'Answer')),
    ];
  });
  expect(faults).toEqual([]);
});

describe('what is no answer of a model', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const CONTENT = { parts: [{ text: 'Hi' }] };
  const MESSAGE = { model: 'beta-sonnet-4-6', messages: [{ role: 'user', content: 'Hi' }] };
  const EMBED = { model: 'models/gemini-embedding-001', content: CONTENT };
  const BATCH = { requests: [EMBED, EMBED] };
  const NATIVE = '/v1beta/models';

  test.each([
    ['messages', '/v1/models', undefined, 'Models'],
    ['messages', '/v1/models/beta-sonnet-4-6', undefined, 'Model'],
    ['messages', '/v1/messages/count_tokens', MESSAGE, 'Count'],
    ['messages', '/v1/messages', MESSAGE, 'event:'],
    ['messages', '/v1/models/none', undefined, 'event:'],
    ['generate', NATIVE, undefined, 'Models'],
    ['generate', `${NATIVE}/alpha-3-flash`, undefined, 'Model'],
    ['generate', `${NATIVE}/alpha-3-flash:countTokens`, { contents: [CONTENT] }, 'Count'],
    ['generate', `${NATIVE}/gemini-embedding-001:embedContent`, EMBED, 'Embedded'],
    ['generate', `${NATIVE}/gemini-embedding-001:batchEmbedContents`, BATCH, 'EmbeddedBatch'],
    ['generate', `${NATIVE}/alpha-3-flash:generateContent`, { contents: 1 }, 'Refusal'],
    ['generate', `${NATIVE}/none`, undefined, 'Refusal'],
  ])('%s %s is documented', async (protocol, path, body, type) => {
    const answer = await fetch(`${app.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(protocol === 'messages' ? { 'anthropic-version': '2023-06-01' } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const documents = protocol === 'messages' ? MESSAGES : GENERATE;
    const value = parsed(await answer.text());
    expect(Object.keys(value).length).toBeGreaterThan(0);
    expect(faultsOf(documents, value, type)).toEqual([]);
  });
});
