// What the page of the requests works out: columns, the brush of its histogram, marked bodies, saved views, curl.

import { expect, test } from 'vitest';
import { endsOf, moveBrush, partAt } from '../../console/src/pages/requests/brush.ts';
import { columnsFor, readChoice } from '../../console/src/pages/requests/columns.ts';
import { compareBodies, joinLines } from '../../console/src/pages/requests/compare-bodies.ts';
import { readFilters, writeFilters, writeQuery } from '../../console/src/pages/requests/filters.ts';
import { matchesRunning } from '../../console/src/pages/requests/matches-running.ts';
import { readViews, withView } from '../../console/src/pages/requests/saved-views.ts';
import { shortSession } from '../../console/src/pages/requests/short-session.ts';
import { writeCurl } from '../../console/src/pages/requests/write-curl.ts';
import { asSentence } from '../../src/lib/localized-message.ts';

test('a list shows the columns it has room for, the usual ones first', () => {
  expect(columnsFor(620, undefined, false)).toEqual(['when', 'status', 'model', 'took']);
  expect(columnsFor(990, undefined, false)).toEqual([
    ...(['when', 'status', 'model', 'protocol', 'account', 'tokens', 'took'] as const),
  ]);
  expect(columnsFor(1600, undefined, true)).toEqual([
    ...(['when', 'status', 'model', 'protocol', 'account', 'key', 'client'] as const),
    ...(['replica', 'tokens', 'first', 'cost', 'took'] as const),
  ]);
  expect(columnsFor(1600, ['session', 'cost'], true)).toEqual([
    ...(['when', 'status', 'model', 'session', 'cost'] as const),
  ]);
  expect(columnsFor(1600, [], false)).toEqual(['when', 'status', 'model']);
  expect(readChoice(['cost', 'nothing', 'key'])).toEqual(['key', 'cost']);
  expect(readChoice({})).toBeUndefined();
});

test('a brush goes by pointer and by keys, and stays within the plot', () => {
  expect([partAt(-5, 100, 10), partAt(34, 100, 10), partAt(500, 100, 10)]).toEqual([0, 3, 9]);
  const press = (keys: readonly string[]) =>
    keys.reduce<ReturnType<typeof moveBrush>>((brush, pressed) => {
      const shiftKey = pressed.startsWith('+');
      return moveBrush(brush, { key: pressed.replace('+', ''), shiftKey }, 10);
    }, undefined);
  expect(press(['ArrowLeft'])).toEqual({ anchor: 9, head: 9 });
  expect(press(['Home', '+ArrowRight', '+ArrowRight'])).toEqual({ anchor: 0, head: 2 });
  expect(press(['ArrowLeft', '+PageUp'])).toEqual({ anchor: 9, head: 0 });
  expect(press(['Home', '+End', 'ArrowRight'])).toEqual({ anchor: 9, head: 9 });
  expect(moveBrush(undefined, { key: 'a', shiftKey: false }, 10)).toBeUndefined();
  expect(endsOf({ anchor: 7, head: 2 })).toEqual([2, 7]);
});

test('the address holds a marked time, which goes before a range', () => {
  const filters = readFilters({
    from: '5',
    to: 'x',
    range: '1h',
    session: 'run 7',
    view: 'errors',
  });
  expect(filters).toEqual({ from: 5, session: 'run 7' });
  expect(writeFilters(filters)).toEqual({ from: '5', session: 'run 7' });
  expect(writeQuery({ range: '1h', key: 'a' }, 3_600_009)).toEqual({ from: 9, key: 'a' });
});

test('a filter of owner, team or tag takes the running requests of those alone', () => {
  const row = {
    ...{ id: 'r', requestId: 'r', protocol: 'chat', surface: 'chat', model: 'm', attempt: 1 },
    ...{ keyId: 'k', clientAddress: '', owner: 'Ann', tags: ['ci'], startedAt: 0 },
  };
  const taken = [{ owner: 'ann*' }, { tag: 'ci' }, { owner: 'Bob' }, { team: 'Red' }, { tag: 'c' }];
  expect(taken.map((filters) => matchesRunning(row, filters))).toEqual([
    ...[true, true, false, false, false],
  ]);
  expect(matchesRunning(row, readFilters({ without: 'team' }))).toBe(false);
  expect(readFilters({ without: 'anything' })).toEqual({});
});

test('saved views are kept by name', () => {
  const one = { name: 'b', filters: { status: 'error' } };
  const views = withView(withView([], one), { name: 'a', filters: { model: 'x' } });
  expect(views.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(withView(views, { ...one, filters: {} })[1]).toEqual({ name: 'b', filters: {} });
  const stored = [{ name: 'a', filters: { model: 'x', odd: 1 } }, 5, { name: 1, filters: {} }];
  expect(readViews(stored)).toEqual([{ name: 'a', filters: { model: 'x' } }]);
});

test('bodies are marked where the other one has no such value, and noted where the receipt says', () => {
  const client = { model: 'a', messages: [{ role: 'user', content: 'Hi' }], logit_bias: { 5: 1 } };
  const upstream = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
  const reason = asSentence('no effect');
  const marked = compareBodies(JSON.stringify(client), JSON.stringify(upstream), [
    { path: 'messages[0].content[2]', action: 'repaired', reason },
    { path: 'logit_bias', action: 'dropped', reason },
    { path: 'X-Preferred-Account', action: 'dropped', reason },
  ]);
  const lines = marked?.lines.map(({ text, isMarked, notes }) => [
    ...[`${isMarked ? '!' : ' '}${text}`, ...notes.map(({ action }) => action)],
  ]);
  expect(lines).toEqual([
    [' {'],
    ['!  "model": "a",'],
    ['   "messages": ['],
    ['     {'],
    ['       "role": "user",'],
    ['       "content": "Hi"', 'repaired'],
    ['     }'],
    ['   ],'],
    ['   "logit_bias": {', 'dropped'],
    ['!    "5": 1'],
    ['   }'],
    [' }'],
  ]);
  expect(marked?.others.map(({ path }) => path)).toEqual(['X-Preferred-Account']);
  const pieces = joinLines(marked?.lines ?? []);
  expect(pieces.map(({ text }) => text).join('\n')).toBe(JSON.stringify(client, null, 2));
  expect(pieces.length).toBeLessThan(8);
  const sent = 'event: delta\ndata: {"text":"Hi","id":"msg_1"}\n\n: alive\n\ndata: [DONE]\n\n';
  const came = '{"text":"Hi","usage":3}\n{"usage":4}\n';
  const marks = (text: string, other: string) =>
    compareBodies(text, other)
      ?.lines.filter(({ isMarked }) => isMarked)
      .map((line) => line.text.trim());
  expect(marks(sent, came)).toEqual(['"id": "msg_1"']);
  expect(marks(came, sent)).toEqual(['"usage": 3', '"usage": 4']);
  expect(compareBodies('{"cut', '{}')).toBeUndefined();
  expect(compareBodies('{"a":1}', undefined)?.lines.some(({ isMarked }) => isMarked)).toBe(false);
});

test('a command for curl holds the body as one word, and no secret', () => {
  const text = `{"say":"it's $HOME"}`;
  const request = { method: 'POST', path: '/v1/messages', surface: 'messages' };
  const clientRequest = { text, isWhole: true };
  expect(writeCurl({ ...request, protocol: 'messages', clientRequest }, 'http://a:1')).toBe(
    [
      `curl 'http://a:1/v1/messages'`,
      '--header "x-api-key: $ISTHMUS_API_KEY"',
      '--header "anthropic-version: 2023-06-01"',
      '--header "content-type: application/json"',
      `--data-raw '{"say":"it'\\''s $HOME"}'`,
    ].join(' \\\n  '),
  );
  const cut = { ...clientRequest, isWhole: false };
  expect(writeCurl({ ...request, protocol: 'chat', clientRequest: cut }, '')).toBeUndefined();
});

test('a session that nobody named is shown by the beginning of its hash', () => {
  expect(shortSession('my run')).toBe('my run');
  expect(shortSession('text dGhpcyBpcyBhIGhhc2ggb2Y')).toBe('#dGhpcyBp');
});
