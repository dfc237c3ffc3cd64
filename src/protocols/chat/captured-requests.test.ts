import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { readChatRequest } from './read-request.ts';
import { canonical, notes, USER } from './reading.test-support.ts';

const captured = parseJson(
  readFileSync(new URL('./__fixtures__/captured-requests.json', import.meta.url), 'utf8'),
);

test.each(Object.entries(isJsonObject(captured) ? captured : {}))(
  'the captured request %s is read, nothing but a user name being lost',
  (_name, body) => {
    if (!isJsonObject(body)) throw new Error('The fixture is not an object.');
    const receipt = createReceipt();
    const request = readChatRequest(body, receipt);
    expect(request.canonical.turns.length).toBeGreaterThan(0);
    expect(receipt.entries.filter((entry) => !entry.path.endsWith('.name'))).toEqual([]);
  },
);

test('what coding clients add to requests is taken without loss', () => {
  const call = (id: string): JsonObject => ({
    id,
    type: 'function',
    function: { name: 'read', arguments: '{}' },
    extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
  });
  const cache_control = { type: 'ephemeral' };
  const fields = {
    stream: true,
    store: false,
    tool_choice: 'validated',
    tools: [{ type: 'function', function: { name: 'read', strict: false }, cache_control }],
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'D', cache_control }] },
      USER,
      { role: 'assistant', content: null, refusal: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '2' }] },
      { role: 'tool', tool_call_id: 'a', content: '', name: 'read' },
      { role: 'assistant', content: 'ok', reasoning_content: 'hm', annotations: [], parsed: null },
      { role: 'user', content: 'go', cache_control },
    ],
  } satisfies JsonObject;
  const request = canonical(fields);
  expect(notes(fields)).toEqual([]);
  expect(request.system[0]?.cacheHint).toBe(true);
  expect(request.turns[1]?.parts[0]).not.toHaveProperty('signature.value');
  expect(request.turns.at(-1)?.parts).toEqual([{ kind: 'text', text: 'go', cacheHint: true }]);
});
