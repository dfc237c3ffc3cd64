// Golden files: compared on every run, written only with UPDATE_GOLDENS=1, never left without their input.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isJsonObject, type JsonValue } from '../../src/lib/json.ts';

const IS_UPDATE = process.env.UPDATE_GOLDENS === '1';
const HOW_TO_WRITE = 'write it with UPDATE_GOLDENS=1 and review it like code';

/** Fails when the file is missing or differs; with UPDATE_GOLDENS=1 it writes the file instead. */
export function expectGolden(path: string, text: string): void {
  if (IS_UPDATE) {
    writeFileSync(path, text);
    return;
  }
  const golden = existsSync(path) ? readFileSync(path, 'utf8') : `no golden; ${HOW_TO_WRITE}`;
  expect(text).toBe(golden);
}

/** Names of the inputs with this extension, without it, sorted. */
export function caseNames(folder: string, extension: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length))
    .sort();
}

/** Golden files of the folder that belong to no case, such as those of a case that was renamed. */
export function orphanGoldens(
  folder: string,
  { cases, targets }: { readonly cases: readonly string[]; readonly targets: readonly string[] },
): readonly string[] {
  const expected = new Set(
    cases.flatMap((name) => targets.map((target) => `${name}.${target}.golden`)),
  );
  return readdirSync(folder)
    .filter((file) => file.endsWith('.golden') && !expected.has(file))
    .map((file) => join(folder, file));
}

/** Pretty JSON with sorted keys; numbers kept as source text stay as they are. */
export function goldenJson(value: JsonValue): string {
  return `${JSON.stringify(sortKeys(value), null, 2)}\n`;
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, item]) => [key, sortKeys(item)]));
}
