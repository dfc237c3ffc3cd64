// docs/telemetry.md names all that is exported and nothing else.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8');
const SOURCE = readdirSync(join(ROOT, 'src/telemetry'))
  .filter((name) => !name.includes('.test.'))
  .map((name) => readFileSync(join(ROOT, 'src/telemetry', name), 'utf8'))
  .join('\n');

const NAME = String.raw`((?:gen_ai|error|http|server|isthmus)\.[a-z_.]*[a-z])`;

function names(text: string, pattern: string): readonly string[] {
  return [
    ...new Set([...text.matchAll(new RegExp(pattern, 'g'))].map(([, name = '']) => name)),
  ].sort();
}

test('every attribute and metric is described, and every one described there is', () => {
  const written = names(SOURCE, `'${NAME}'`);
  const described = names(PAGE, `\`${NAME}\``).filter((name) => name !== 'isthmus.sandbox');
  expect(written.length).toBeGreaterThan(20);
  expect(described).toEqual(written);
});
