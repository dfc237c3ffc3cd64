// The tables of docs/models.md say what routing does.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOG } from '../../src/routing/catalog.ts';
import { PRESETS } from '../../src/routing/mapping.ts';
import { EXACT_ALIASES, findAlias, unreadEnd } from '../../src/routing/model-names.ts';
import { capabilitiesOf } from '../../src/upstreams/generate/models.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/models.md'), 'utf8');

test('the catalogue, with its other names and limits', () => {
  const rows = tableUnder('Names').map(([name = '', also = '', input, output, thinking]) => ({
    id: namesIn(name)[0],
    also: namesIn(also).sort(),
    limits: [input, output, /\d+,\d+/.exec(thinking ?? '')?.[0] ?? '0'],
    isOn: thinking?.startsWith('on'),
  }));
  const expected = CATALOG.map((model) => ({
    id: model.id,
    also: aliasesOf(model.id),
    limits: [model.inputTokenLimit, model.outputTokenLimit, mostThinking(model.id)].map(sayNumber),
    isOn: model.implies.thinking === 'on',
  }));
  expect(rows).toEqual(expected);
});

test('the aliases', () => {
  const rows = tableUnder('Aliases').flatMap(([patterns = '', target = '']) =>
    namesIn(patterns).map((pattern) => [pattern, namesIn(target)[0]] as const),
  );
  expect(rows.length).toBeGreaterThan(20);
  for (const [pattern, target] of rows) {
    const hit = findAlias(pattern.replaceAll('*', '9'));
    expect([pattern, hit?.target]).toEqual([pattern, target]);
  }
});

test('the ratios and sizes at the end of a name', () => {
  const [, said = ''] = PAGE.split('On image models: ratio (');
  const [, ratios, sizes = ''] =
    /ratio one of (.+?); size one of (.+?);/.exec(unreadEnd('').message) ?? [];
  expect(said.startsWith(`${ratios}) and size (`)).toBe(true);
  for (const size of sizes.split(', ')) expect(said.split('|')[0]).toContain(size);
});

test('the presets', () => {
  const rows = tableUnder('Presets');
  for (const [column, { mapping }] of PRESETS.entries()) {
    const entries = rows.flatMap(([patterns = '', ...targets]) => {
      const [target] = namesIn(targets[column] ?? '');
      return target === undefined ? [] : namesIn(patterns).map((one) => [one, target] as const);
    });
    expect(Object.fromEntries(entries)).toEqual(mapping);
  }
});

test('the limits told of a model are those its requests are held to', () => {
  for (const { id, tasks, inputTokenLimit, outputTokenLimit } of CATALOG) {
    const held = capabilitiesOf({ capabilityOverrides: {} }, id);
    expect([id, held.inputTokenLimit]).toEqual([id, inputTokenLimit]);
    if (tasks.includes('generate'))
      expect([id, held.outputTokenLimit]).toEqual([id, outputTokenLimit]);
  }
});

test('a model is said to think or to draw when its requests may ask for it', () => {
  for (const { id, supportsThinking, drawsImages } of CATALOG) {
    const held = capabilitiesOf({ capabilityOverrides: {} }, id);
    expect([id, held.thinking.kind !== 'none', held.drawsImages]).toEqual([
      id,
      supportsThinking,
      drawsImages,
    ]);
  }
});

/** Tokens; 0 for a model that does not think. */
function mostThinking(id: string): number {
  const { thinking } = capabilitiesOf({ capabilityOverrides: {} }, id);
  return thinking.kind === 'budget' ? thinking.maxTokens : 0;
}

/** The rows of the first table under a heading, without its head. */
function tableUnder(heading: string): string[][] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

function aliasesOf(id: string): string[] {
  const names = [...EXACT_ALIASES].filter(([, target]) => target === id).map(([name]) => name);
  return names.sort();
}

function sayNumber(figure: number): string {
  return figure.toLocaleString('en-US');
}
