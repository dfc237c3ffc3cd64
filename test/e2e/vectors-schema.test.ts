// Accepted cleanings of a tool's schema, in every protocol that carries one.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Asked, translate } from '../support/translate.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];

/** A request of each protocol with one tool `w` of this schema. */
const ASK: Readonly<Record<Asked['protocol'], (model: string, schema: JsonObject) => Asked>> = {
  messages: (model, schema) => ({
    protocol: 'messages',
    body: {
      model,
      max_tokens: 50,
      messages: MESSAGES,
      tools: [{ name: 'w', input_schema: schema }],
    },
  }),
  chat: (model, schema) => ({
    protocol: 'chat',
    body: {
      model,
      messages: MESSAGES,
      tools: [{ type: 'function', function: { name: 'w', parameters: schema } }],
    },
  }),
  generate: (model, schema) => ({
    protocol: 'generate',
    model,
    body: {
      contents: CONTENTS,
      tools: [{ functionDeclarations: [{ name: 'w', parameters: schema }] }],
    },
  }),
};

describe.each([
  ['messages', 'alpha-3-flash'],
  ['messages', 'claude-sonnet-4-6'],
  ['chat', 'alpha-3-flash'],
  ['chat', 'gemini-3-flash'],
  ['generate', 'alpha-3-flash'],
  ['generate', 'gemini-3-flash'],
] as const)('%s, %s', (protocol, model) => {
  /** What is sent for the tool; the schema must be the only thing said about it. */
  const clean = async (schema: JsonObject, expected: JsonObject) => {
    const { body } = await translate(app.url, ASK[protocol](model, schema));
    const tools = [{ functionDeclarations: [{ name: 'w', parameters: expected }] }];
    expect(body.tools).toEqual(tools);
  };
  const cleanProperty = (schema: JsonObject | boolean, expected: JsonObject) =>
    clean(
      { type: 'object', properties: { x: schema } },
      { type: 'object', properties: { x: expected } },
    );

  test('V120 a property that allows nothing goes, also from required', () =>
    clean(
      { type: 'object', properties: { a: false, b: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
    ));

  test('V121 null beside a type is said by its keyword', () =>
    cleanProperty(
      { type: ['string', 'null'], description: 'n' },
      { type: 'string', description: 'n', nullable: true },
    ));

  test('V122 one object or null is the object, without anyOf', async () => {
    const object = { type: 'object', properties: { p: { type: 'string' } }, required: ['p'] };
    const schema = { properties: { x: { anyOf: [object, { type: 'null' }] } } };
    const { body } = await translate(app.url, ASK[protocol](model, schema));
    const x = { ...object, nullable: true };
    const parameters = { type: 'object', properties: { x } };
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'w', parameters }] }]);
  });

  test('V123 limits of a text stay, a format the upstream does not know is said', async () => {
    const schema = { x: { type: 'string', minLength: 1, format: 'city' } };
    const asked = ASK[protocol](model, { type: 'object', properties: schema });
    const { body } = await translate(app.url, asked);
    const x = { type: 'string', minLength: 1, description: '(format city)' };
    const parameters = { type: 'object', properties: { x } };
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'w', parameters }] }]);
  });

  test('V125 a property called pattern stays, and the keyword pattern within it', async () => {
    const pattern = { type: 'string', description: 'what', pattern: '^a' };
    const asked = ASK[protocol](model, { type: 'object', properties: { pattern } });
    const { body } = await translate(app.url, asked);
    const parameters = { type: 'object', properties: { pattern } };
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'w', parameters }] }]);
  });

  test('V128 an enum of numbers is one of texts', () =>
    cleanProperty({ enum: [1, 2] }, { type: 'string', enum: ['1', '2'] }));
});
