import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { ToolChoice } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const asked = requestOf({
  turns: [user('Draw')],
  tools: [
    { kind: 'function', name: 'f', path: 'tools[0]' },
    { kind: 'web-search', path: 'tools[1]' },
    { kind: 'freeform', name: 'g', path: 'tools[2]' },
  ],
});

const contextFor = (callsFunctions: boolean) =>
  contextOf({ capabilities: capabilitiesOf({ callsFunctions }) });

test.each<ToolChoice>([
  { kind: 'auto', names: [] },
  { kind: 'none' },
  { kind: 'validated', names: [] },
])('a model that calls no functions is given none, and the receipt says so: %j', (toolChoice) => {
  const context = contextFor(false);
  const sent = applyTransforms({ ...asked, toolChoice }, context);
  expect(sent.tools.some(({ kind }) => kind === 'function' || kind === 'freeform')).toBe(false);
  expect(sent.toolChoice).toEqual({ kind: 'auto', names: [] });
  expect(context.receipt.entries).toMatchObject([
    { action: 'dropped', path: 'tools[0]' },
    { action: 'dropped', path: 'tools[2]' },
  ]);
});

test('a call demanded of a model that makes none is refused', () => {
  const toolChoice = { kind: 'required', names: [] } as const;
  expect(() => applyTransforms({ ...asked, toolChoice }, contextFor(false))).toThrow(
    /calls no functions/,
  );
  expect(applyTransforms({ ...asked, toolChoice }, contextFor(true)).tools).toContainEqual(
    expect.objectContaining({ name: 'f' }),
  );
});
