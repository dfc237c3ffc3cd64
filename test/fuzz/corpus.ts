// The bodies the fuzz starts from: the recorded requests of real clients and of the behaviour cases.

import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../src/lib/json.ts';
import { caseNames } from '../golden/golden-file.ts';
import { type RequestCase, readCase } from '../golden/request-case.ts';
import { SMALL_SURFACES, type SmallSurface, smallCases } from './small-surfaces.ts';

/** Surfaces with a folder of recorded requests. */
const RECORDED = ['chat', 'messages', 'generate', 'responses'] as const;

export type FuzzedSurface = (typeof RECORDED)[number] | SmallSurface;
export const FUZZED_SURFACES: readonly FuzzedSurface[] = [...RECORDED, ...SMALL_SURFACES];

export interface Corpus {
  readonly cases: readonly RequestCase[];
  /** Every value that stands under a key somewhere, by key. */
  readonly valuesByKey: ReadonlyMap<string, readonly JsonValue[]>;
}

const MOST_CHARACTERS = 20_000;

export function readCorpus(surface: FuzzedSurface): Corpus {
  const cases = readCases(surface).filter(
    ({ body }) => JSON.stringify(body).length <= MOST_CHARACTERS,
  );
  const valuesByKey = new Map<string, JsonValue[]>();
  for (const { body } of cases) harvest(body, valuesByKey);
  return { cases, valuesByKey };
}

function readCases(surface: FuzzedSurface): readonly RequestCase[] {
  const recorded = RECORDED.find((name) => name === surface);
  if (recorded === undefined)
    return SMALL_SURFACES.filter((name) => name === surface).flatMap(smallCases);
  const folder = join(import.meta.dirname, '..', 'golden', 'requests', recorded);
  return caseNames(folder, '.json').map((name) => ({
    ...readCase(join(folder, `${name}.json`)),
    name,
  }));
}

function harvest(value: JsonValue, into: Map<string, JsonValue[]>): void {
  if (Array.isArray(value)) for (const item of value) harvest(item, into);
  if (!isJsonObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const known = into.get(key);
    if (known === undefined) into.set(key, [item]);
    else known.push(item);
    harvest(item, into);
  }
}
