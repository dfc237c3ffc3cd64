// What is highlighted in code, and that its text stays what it is.

import { expect, test } from 'vitest';
import { highlight } from '../../console/src/components/code/highlight.ts';

test('the syntax of code is found, and its text stays as it is', () => {
  const code = '# hi\ndef f(n):\n    return "a" * 3\n';
  const pieces = highlight(code, 'py');
  expect(pieces.map(({ text }) => text).join('')).toBe(code);
  expect(pieces.filter(({ kind }) => kind !== undefined)).toEqual([
    { text: '# hi', kind: 'comment' },
    { text: 'def', kind: 'keyword' },
    { text: 'return', kind: 'keyword' },
    { text: '"a"', kind: 'string' },
    { text: '3', kind: 'class' },
  ]);
});

test.each([
  ['js', 'let a = `b\r\nc`;\r\n'],
  ['html', '</code><img src=x onerror="alert(1)">&amp;<script>"</script>\u202e'],
  ['sh', 'echo "not closed\n\n\t# \\'],
])('no text of %s is added, lost or replaced', (language, code) => {
  const pieces = highlight(code, language);
  expect(pieces.map(({ text }) => text).join('')).toBe(code);
  expect(pieces.length).toBeGreaterThan(1);
});

test('names, texts and numbers of JSON differ', () => {
  expect(highlight('{"a":["b",1,null]}', 'json').filter(({ kind }) => kind !== undefined)).toEqual([
    { text: '"a"', kind: 'property' },
    { text: '"b"', kind: 'string' },
    { text: '1', kind: 'class' },
    { text: 'null', kind: 'keyword' },
  ]);
});

test('lines of a diff are what they do', () => {
  expect(highlight('@@ -1 +1 @@\n a\n-b c\n+d "e"', 'diff')).toEqual([
    { text: '@@ -1 +1 @@', kind: 'diff-hunk' },
    { text: '\n a\n', kind: undefined },
    { text: '-b c', kind: 'diff-remove' },
    { text: '\n', kind: undefined },
    { text: '+d "e"', kind: 'diff-add' },
  ]);
});

test.each([
  ['a language that is not known', 'let a = 1;', 'klingon'],
  ['no language', 'let a = 1;', ''],
  ['a name of every object', 'let a = 1;', 'constructor'],
  ['code too long to be read at once', 'let a = 1;\n'.repeat(1_000), 'js'],
  ['a line too long to be read at once', `let a = 1;\n${'a<'.repeat(260)}\n`, 'js'],
  ['code with too many tags that are not closed', 'a<\n b <c '.repeat(60), 'js'],
  ['JSON too long to be read at once', JSON.stringify('a '.repeat(30_000)), 'json'],
])('%s stays one plain piece', (_what, code, language) => {
  expect(highlight(code, language)).toEqual([{ text: code, kind: undefined }]);
});
