import { expect, test } from 'vitest';
import { writeCodeText } from './text-forms.ts';

const codeOf = (code: string, language: string): string =>
  writeCodeText({ kind: 'code', language, code });

test('a fence is longer than any run of backticks in the text', () => {
  expect(codeOf('a', 'python')).toBe('```python\na\n```');
  expect(codeOf('````\n', '')).toBe('`````\n````\n`````');
  expect(codeOf('', '')).toBe('```\n```');
});

test('a text of very many fences is fenced too', () => {
  expect(codeOf('```\n'.repeat(500_000), '').startsWith('````\n')).toBe(true);
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
