// Structure-aware mutations of JSON bodies: one change at a random place each.

import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import type { Corpus } from './corpus.ts';
import { garbage, oddNumber, randomSchema } from './garbage.ts';
import type { Random } from './random.ts';

/** One place in a body and the means to change it. */
interface Site {
  readonly holder: JsonObject | JsonValue[];
  readonly key: string | number;
  readonly value: JsonValue;
}

type Mutation = (site: Site, input: MutationInput) => void;

interface MutationInput {
  readonly random: Random;
  readonly corpus: Corpus;
  readonly sites: readonly Site[];
}

const SCHEMA_KEYS = new Set([
  ...['parameters', 'parametersJsonSchema', 'input_schema', 'schema', 'responseSchema'],
  ...['responseJsonSchema', 'items', 'properties', 'response_json_schema', 'response_schema'],
]);
const HOSTILE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', '', ' ', '\ud800'];
const MOST_COPIES = 300;

/** A changed copy; the body given stays as it is. */
export function mutateBody(body: JsonObject, random: Random, corpus: Corpus): JsonObject {
  const root = { body: copy(body) };
  const changes = 1 + random.below(4);
  for (let count = 0; count < changes; count += 1) {
    const sites = listSites(root.body);
    if (sites.length === 0) break;
    const site = random.pick(sites);
    pickMutation(site, random)(site, { random, corpus, sites });
  }
  return isJsonObject(root.body) ? root.body : {};
}

function pickMutation(site: Site, random: Random): Mutation {
  if (SCHEMA_KEYS.has(String(site.key)) && random.chance(0.5)) return plantSchema;
  return random.pick(MUTATIONS);
}

const plantSchema: Mutation = (site, { random }) => {
  setAt(site, randomSchema(random));
};

const MUTATIONS: readonly Mutation[] = [
  (site, { random }) => setAt(site, garbage(random)),
  (site, { random }) => setAt(site, garbage(random)),
  (site) => removeAt(site),
  (site) => removeAt(site),
  swapKindred,
  swapKindred,
  swapKindred,
  swapAny,
  addKnownField,
  addKnownField,
  addOddNumber,
  addOddNumber,
  renameKey,
  multiply,
  shuffleItems,
  wrapValue,
  (site, { random }) => {
    if (isJsonObject(site.value)) define(site.value, random.pick(HOSTILE_KEYS), garbage(random));
    else setAt(site, garbage(random));
  },
  (site) => setAt(site, null),
];

/** Another value that stood under the same key somewhere: plausible one by one, odd together. */
function swapKindred(site: Site, { random, corpus }: MutationInput): void {
  const known = corpus.valuesByKey.get(String(site.key));
  if (known === undefined) setAt(site, garbage(random));
  else setAt(site, copy(random.pick(known)));
}

function swapAny(site: Site, { random, sites }: MutationInput): void {
  setAt(site, copy(random.pick(sites).value));
}

function addKnownField(site: Site, { random, corpus }: MutationInput): void {
  const target = isJsonObject(site.value) ? site.value : site.holder;
  if (!isJsonObject(target)) return;
  const key = random.pick([...corpus.valuesByKey.keys()]);
  define(target, key, copy(random.pick(corpus.valuesByKey.get(key) ?? [null])));
}

/** A field that holds a number somewhere, with a number it was never meant for. */
function addOddNumber(site: Site, { random, corpus, sites }: MutationInput): void {
  const names = [...corpus.valuesByKey].flatMap(([key, values]) =>
    values.some((value) => typeof value === 'number') ? [key] : [],
  );
  const place = random.chance(0.5) ? sites[0]?.holder : site.holder;
  if (isJsonObject(place)) define(place, random.pick(names), oddNumber(random));
}

function renameKey(site: Site, { random }: MutationInput): void {
  const { holder, key, value } = site;
  if (!isJsonObject(holder)) return;
  const name = String(key);
  const renamed = random.pick([
    name.toUpperCase(),
    name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ` ${name}`,
    random.pick(HOSTILE_KEYS),
  ]);
  delete holder[name];
  define(holder, renamed, value);
}

function multiply(site: Site, { random }: MutationInput): void {
  const times = random.chance(0.1) ? MOST_COPIES : 2;
  if (Array.isArray(site.holder)) {
    const copies = Array.from({ length: times }, () => copy(site.value));
    site.holder.splice(Number(site.key), 0, ...copies);
  } else if (Array.isArray(site.value)) {
    const { value } = site;
    setAt(site, Array.from({ length: times }, () => copy(value)).flat());
  }
}

function shuffleItems(site: Site, { random }: MutationInput): void {
  const list = Array.isArray(site.value) ? site.value : site.holder;
  if (Array.isArray(list)) list.splice(0, list.length, ...random.shuffle(list));
}

function wrapValue(site: Site, { random }: MutationInput): void {
  const { value } = site;
  const [first] = Array.isArray(value) ? value : [null];
  setAt(site, random.pick<JsonValue>([[value], { value }, JSON.stringify(value), first ?? null]));
}

function listSites(value: JsonValue): Site[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, key) => [{ holder: value, key, value: item }, ...listSites(item)]);
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    { holder: value, key, value: item },
    ...listSites(item),
  ]);
}

function setAt({ holder, key }: Site, value: JsonValue): void {
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else define(holder, String(key), value);
}

function removeAt({ holder, key }: Site): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[String(key)];
}

/** An own member whatever the key: assignment would make `__proto__` the prototype. */
function define(holder: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** A deep copy that keeps raw numbers and own keys such as `__proto__`. */
function copy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
}
