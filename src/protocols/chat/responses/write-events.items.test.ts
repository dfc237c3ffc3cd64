import { expect, test } from 'vitest';
import { checkStreamText } from '../../../../test/support/stream-grammar/check-stream-text.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { type Block, eventsOf } from '../answers.test-support.ts';
import { framesOf, officialClient, read, stream } from './responses.test-support.ts';

const DRAFTS: Block[] = [
  { kind: 'draft', base64: 'D0' },
  { kind: 'draft', base64: 'D1' },
];
const WORDS: Block = { kind: 'text', pieces: ['Here it is.'] };
const PICTURE: Block = { kind: 'image', base64: 'AAAA' };

function drawn(blocks: Block[], tool: object = {}): string {
  const tools = [{ type: 'image_generation', ...tool }];
  return stream(eventsOf([blocks]), read({ input: 'x', stream: true, tools }).settings);
}

test('unfinished pictures come while the drawing is made, and words between do not end it', async () => {
  const text = drawn([...DRAFTS, WORDS, PICTURE], { partial_images: 2 });
  expect(checkStreamText('responses', text)).toBe('success');
  const client = officialClient(text, 'text/event-stream');
  const run = client.responses.stream({ model: 'm', input: 'x' });
  const partials: unknown[] = [];
  run.on('response.image_generation_call.partial_image', (event) => {
    const { partial_image_index, partial_image_b64, output_index } = event;
    partials.push([partial_image_index, partial_image_b64, output_index]);
  });
  const { output } = await run.finalResponse();
  expect(partials).toEqual([
    [0, 'D0', 0],
    [1, 'D1', 0],
  ]);
  expect(output).toMatchObject([
    { type: 'image_generation_call', status: 'completed', result: 'AAAA' },
    { type: 'message', status: 'completed' },
  ]);
});

test('no more unfinished pictures are shown than were asked for', () => {
  const shown = (tool: object) =>
    framesOf(drawn([...DRAFTS, PICTURE], tool)).filter(
      ({ type }) => type === 'response.image_generation_call.partial_image',
    ).length;
  expect([shown({ partial_images: 1 }), shown({}), shown({ partial_images: 3 })]).toEqual([
    1, 0, 2,
  ]);
});

test('a drawing that is never finished has failed', () => {
  const text = drawn([...DRAFTS, WORDS], { partial_images: 2 });
  expect(framesOf(text).at(-1)).toMatchObject({
    response: {
      output: [{ type: 'image_generation_call', status: 'failed' }, { type: 'message' }],
    },
  });
});

test('the settings of the tool are those of the picture', () => {
  const tool = { type: 'image_generation', size: '1536x864', quality: 'hd', partial_images: 1 };
  const { canonical, notes } = read({ input: 'x', stream: true, tools: [tool] });
  expect(canonical).toMatchObject({ image: { aspectRatio: '16:9', size: '4K' }, imageDrafts: 1 });
  expect(notes).toEqual([]);
  const plain = read({ input: 'x', tools: [{ type: 'image_generation', quality: 'auto' }] });
  expect(plain.canonical).toMatchObject({ image: {}, imageDrafts: 0 });
});

test('what the tool cannot have is noted or refused by its path', () => {
  const at = (tool: object, fields: object = {}) =>
    read({ input: 'x', ...fields, tools: [{ type: 'image_generation', ...tool }] });
  const fields = { background: 'transparent', output_format: 'webp' };
  expect(at(fields).canonical.imageDetails).toEqual({ path: 'tools[0]', fields });
  expect(at({ partial_images: 2 }).notes).toMatchObject([{ path: 'tools[0].partial_images' }]);
  for (const [tool, field] of [
    [{ partial_images: 4 }, 'tools[0].partial_images'],
    [{ quality: 'best' }, 'tools[0].quality'],
    [{ size: 5 }, 'tools[0].size'],
    [{ size: '7:5' }, 'tools[0].size'],
  ] as const) {
    expect(() => at(tool, { stream: true })).toThrow(expect.objectContaining({ field }));
  }
});

test('a deferred tool is found by a search before its first call, where the service searches', () => {
  const tools = [
    { type: 'function', name: 'now', parameters: {} },
    { type: 'function', name: 'later', parameters: {}, defer_loading: true },
    {
      ...{ type: 'namespace', name: 'ns', description: 'd' },
      tools: [{ type: 'function', name: 'f', parameters: {}, defer_loading: true }],
    },
  ];
  const blocks: Block[] = ['now', 'later', 'later', 'ns__f'].map((name, at) => ({
    ...{ kind: 'call', id: `c${at}`, name, json: [] },
  }));
  const itemsOf = (asked: JsonObject[]) => {
    const { settings } = read({ input: 'x', stream: true, tools: asked });
    const text = stream(eventsOf([blocks]), settings);
    expect(checkStreamText('responses', text)).toBe('success');
    const done = framesOf(text).filter(({ type }) => type === 'response.output_item.done');
    return done.map(({ item }) => item);
  };
  const call = { type: 'function_call' };
  expect(itemsOf(tools)).toMatchObject([call, call, call, call]);
  const head = { execution: 'server', status: 'completed', call_id: null };
  const found = (path: string, tool: JsonObject) => [
    { type: 'tool_search_call', ...head, arguments: { paths: [path] } },
    { type: 'tool_search_output', ...head, tools: [tool] },
  ];
  expect(itemsOf([{ type: 'tool_search' }, ...tools])).toMatchObject([
    { ...call, name: 'now' },
    ...found('later', { name: 'later' }),
    { ...call, name: 'later' },
    { ...call, name: 'later' },
    ...found('ns', { type: 'namespace', name: 'ns', tools: [{ name: 'f' }] }),
    { ...call, name: 'f', namespace: 'ns' },
  ]);
});
