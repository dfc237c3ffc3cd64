import { expect, test } from 'vitest';
import type { JsonValue } from '../../../lib/json.ts';
import { read } from './responses.test-support.ts';

const USER = { role: 'user', content: 'x' };
const NOBODY = { history: [], session: undefined, findItem: () => undefined };

test('a search of the history needs no id: nothing answers to it', () => {
  const search = { type: 'web_search_call', status: 'completed', action: { query: 'q' } };
  const { canonical } = read({ input: [USER, search, USER] });
  expect(canonical.turns[1]?.parts).toMatchObject([
    { kind: 'server-tool-call', name: 'web_search' },
  ]);
});

test.each([{ id: 'msg_1' }, { type: null, id: 'msg_1' }, { type: 'item_reference', id: 'msg_1' }])(
  '%j stands for the item of that id',
  (reference) => {
    const kept = { type: 'message', id: 'msg_1', role: 'assistant', content: 'earlier' };
    const earlier = { ...NOBODY, findItem: (id: string) => (id === 'msg_1' ? kept : undefined) };
    const { canonical } = read({ input: [USER, reference] }, earlier);
    expect(canonical.turns[1]?.parts).toEqual([{ kind: 'text', text: 'earlier' }]);
    expect(() => read({ input: [USER, reference] }, NOBODY)).toThrow(
      expect.objectContaining({ field: 'input[1].id' }),
    );
  },
);

test.each([{}, { input: null }, { input: [] }])(
  'with a history %j adds nothing to it, and without one it is refused',
  (fields) => {
    const earlier = { ...NOBODY, history: [USER] };
    const { canonical } = read({ ...fields, conversation: 'conv_1' }, earlier);
    expect(canonical.turns).toHaveLength(1);
    expect(() => read(fields)).toThrow(expect.objectContaining({ field: 'input' }));
  },
);

const PNG_BYTES = 'iVBORw0KGgo=';
const DRAWING = { type: 'image_generation_call', id: 'ig_1' };
const WITH_DRAWING = {
  ...NOBODY,
  findItem: (id: string) =>
    id === 'ig_1' ? { ...DRAWING, status: 'completed', result: PNG_BYTES } : undefined,
};
const PICTURE = { kind: 'media', source: { kind: 'base64', base64: PNG_BYTES } };

test.each([DRAWING, { ...DRAWING, status: 'completed', result: null }])(
  'a drawing named by its id is the picture of that answer: %j',
  (drawing) => {
    const { canonical } = read({ input: [USER, drawing, USER] }, WITH_DRAWING);
    expect(canonical.turns[1]).toMatchObject({ role: 'assistant', parts: [PICTURE] });
  },
);

test('drawings named behind the question are shown with it', () => {
  const { canonical, notes } = read({ input: [USER, DRAWING, DRAWING] }, WITH_DRAWING);
  expect(canonical.turns.map(({ role }) => role)).toEqual(['user', 'user', 'user']);
  expect(canonical.turns[1]).toMatchObject({ parts: [PICTURE] });
  expect(notes).toMatchObject([{ action: 'approximated', path: 'input' }]);
});

test('a drawing that is gone is missed aloud, one that never was is not', () => {
  expect(() => read({ input: [USER, DRAWING] }, NOBODY)).toThrow(
    expect.objectContaining({ field: 'input[1].id' }),
  );
  const ended = { ...DRAWING, result: null };
  const stripped = read({ input: [{ ...ended, status: 'completed' }, USER] }, NOBODY);
  expect(stripped.notes).toMatchObject([{ action: 'dropped', path: 'input[0]' }]);
  expect(read({ input: [{ ...ended, status: 'failed' }, USER] }, NOBODY).notes).toEqual([]);
});

test('P066 a picture inside markdown text becomes a picture, the text around it stays', () => {
  const text = 'before ![x](data:image/png;base64,AAAA) after';
  const parts = [
    { kind: 'text', text: 'before ' },
    { kind: 'media', mediaType: 'image/png', source: { base64: 'AAAA' } },
    { kind: 'text', text: ' after' },
  ];
  const turnOf = (input: JsonValue) => read({ input }).canonical.turns[0]?.parts;
  expect(turnOf(text)).toMatchObject(parts);
  expect(turnOf([{ role: 'user', content: text }])).toMatchObject(parts);
  expect(turnOf([{ role: 'user', content: [{ type: 'input_text', text }] }])).toMatchObject(parts);
});

const TO_LOOK = { type: 'agent_message', author: '/root', recipient: '/root/look' };

test('a message between agents is told as the user’s, with what came under the name of a cipher', () => {
  const content = [
    { type: 'input_text', text: 'Payload:\n' },
    { type: 'encrypted_content', encrypted_content: 'Read the file.' },
  ];
  const { canonical, notes } = read({ input: [USER, { ...TO_LOOK, id: 'amsg_1', content }] });
  expect(canonical.turns[1]?.role).toBe('user');
  const texts = canonical.turns[1]?.parts.map((part) => (part.kind === 'text' ? part.text : part));
  expect(texts?.join('')).toBe(
    '<agent-message from="/root" to="/root/look">\nPayload:\nRead the file.\n</agent-message>',
  );
  expect(notes).toMatchObject([{ action: 'approximated', path: 'input[1]' }]);
});

test('of a message between agents what the vendor encrypted is left out', () => {
  const content = [
    { type: 'encrypted_content', encrypted_content: `gAAAAABo${'x-_9'.repeat(30)}==` },
  ];
  const { canonical, notes } = read({ input: [USER, { ...TO_LOOK, content }] });
  expect(JSON.stringify(canonical.turns)).not.toContain('gAAAAA');
  expect(notes).toMatchObject([
    { action: 'dropped', path: 'input[1].content[0]' },
    { action: 'approximated', path: 'input[1]' },
  ]);
});

test.each([
  [{ author: null }, 'input[0].author'],
  [{ content: null }, 'input[0].content'],
  [{ content: [{ type: 'input_image' }] }, 'input[0].content[0].image_url'],
])('a message between agents with %j is refused', (change, field) => {
  const message = { ...TO_LOOK, content: [], ...change };
  expect(() => read({ input: [message] })).toThrow(expect.objectContaining({ field }));
});
