import { expect, test } from 'vitest';
import { assistant, contextOf, requestOf, result, user } from '../../test/support/canonical.ts';
import { acceptToolNames } from './tools.ts';

const long = `mcp__${'server_'.repeat(10)}_tool`;
const call = { kind: 'tool-call', id: '1', name: long, input: {} } as const;

test('requests with accepted names stay the same object', () => {
  const request = requestOf({ tools: [{ kind: 'function', name: 'w' }] });
  expect(acceptToolNames(request, contextOf())).toBe(request);
});

test('a refused name is replaced in declaration, choice, history and result alike', () => {
  const context = contextOf();
  const request = requestOf({
    tools: [{ kind: 'function', name: long, description: 'd', path: 'tools[0]' }],
    toolChoice: { kind: 'required', names: [long] },
    turns: [user('x'), assistant(call), user({ ...result('1'), name: long })],
  });
  const { tools, toolChoice, turns } = acceptToolNames(request, context);
  const [tool] = tools;
  const name = tool?.kind === 'function' ? tool.name : '';
  expect(name).toMatch(/^mcp__server_.{43}_[0-9a-f]{8}$/);
  expect(tool).toMatchObject({ description: `d\n\nAlso called "${long}".` });
  expect(toolChoice).toEqual({ kind: 'required', names: [name] });
  expect(turns[1]?.parts[0]).toMatchObject({ name });
  expect(turns[2]?.parts[0]).toMatchObject({ name });
  expect(context.receipt.entries).toMatchObject([{ action: 'repaired', path: 'tools[0]' }]);
});

test('a call of a tool that is no longer declared is noted with the messages', () => {
  const context = contextOf();
  acceptToolNames(requestOf({ turns: [assistant(call)] }), context);
  expect(context.receipt.entries).toMatchObject([{ action: 'repaired', path: 'messages' }]);
});
