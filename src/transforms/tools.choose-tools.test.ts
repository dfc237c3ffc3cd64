import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { Tool, ToolChoice } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const TOOLS: readonly Tool[] = [
  { kind: 'web-search' },
  { kind: 'code-execution' },
  { kind: 'function', name: 'f' },
  { kind: 'freeform', name: 'g' },
];
const SERVER_TOOLS = TOOLS.slice(0, 2);

function chosen(
  toolChoice: ToolChoice,
  { tools = TOOLS, webSearch = false, searchWithFunctions = true } = {},
) {
  const base = contextOf({ capabilities: capabilitiesOf({ searchWithFunctions }) });
  const context = { ...base, variant: { ...base.variant, webSearch } };
  const request = applyTransforms(requestOf({ turns: [user('a')], tools, toolChoice }), context);
  return {
    kinds: request.tools.map(({ kind }) => kind),
    choice: request.toolChoice.kind,
    notes: context.receipt.entries.map(({ action, path }) => `${action} ${path}`),
  };
}

test('a choice of no tool leaves the declarations and nothing the upstream would run', () => {
  const functions = { kinds: ['function', 'freeform'], choice: 'none', notes: [] };
  expect(chosen({ kind: 'none' })).toEqual(functions);
  expect(chosen({ kind: 'none' }, { searchWithFunctions: false })).toEqual(functions);
  expect(chosen({ kind: 'none' }, { tools: SERVER_TOOLS })).toMatchObject({ kinds: [], notes: [] });
});

test('a search asked for by the model name gives way to a choice of no tool', () => {
  const none = chosen({ kind: 'none' }, { tools: [], webSearch: true });
  expect(none).toMatchObject({ kinds: [], notes: ['dropped model'] });
  const auto = chosen({ kind: 'auto', names: [] }, { tools: [], webSearch: true });
  expect(auto).toMatchObject({ kinds: ['web-search'], notes: [] });
});

test.each(['auto', 'required', 'validated'] as const)(
  'a choice (%s) of named tools has no other tool beside it',
  (kind) => {
    const functions = ['function', 'freeform'];
    expect(chosen({ kind, names: ['f'] }).kinds).toEqual(functions);
    const serverTools = ['web-search'] as const;
    expect(chosen({ kind, names: ['f'], serverTools }).kinds).toEqual(['web-search', ...functions]);
    expect(chosen({ kind, names: [] }).kinds).toEqual(TOOLS.map((tool) => tool.kind));
  },
);

test.each([true, false])(
  'a tool of the upstream that alone is allowed goes alone (takes both: %j)',
  (searchWithFunctions) => {
    const serverTools = ['web-search'] as const;
    const alone = { kinds: ['web-search'], choice: 'auto', notes: [] };
    const choice = { kind: 'auto', names: [], serverTools } as const;
    expect(chosen(choice, { searchWithFunctions })).toEqual(alone);
  },
);
