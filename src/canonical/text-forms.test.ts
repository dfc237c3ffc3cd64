import { expect, test } from 'vitest';
import { fence, writeCodeText } from './text-forms.ts';

test('a fence is longer than any run of backticks in the text', () => {
  expect(fence('a', 'python')).toBe('```python\na\n```');
  expect(fence('````\n', '')).toBe('`````\n````\n`````');
  expect(fence('', '')).toBe('```\n```');
});

test('a text of very many fences is fenced too', () => {
  expect(fence('```\n'.repeat(500_000), '').startsWith('````\n')).toBe(true);
});

test('code names its language, a result says how it failed', () => {
  expect(writeCodeText({ kind: 'code', language: 'PYTHON', code: 'print(1)' })).toBe(
    '```python\nprint(1)\n```',
  );
  const result = (outcome: 'ok' | 'failed' | 'timeout') =>
    writeCodeText({ kind: 'code-result', outcome, output: '1\n' });
  expect(result('ok')).toBe('```\n1\n```');
  expect(result('timeout')).toBe('Code execution: timeout\n```\n1\n```');
});
