// The sections of the config file in the admin API: their keys, hidden secrets, patches and schemas.

import { createHmac } from 'node:crypto';
import { valueAt, wrap } from '../../config/file.ts';
import type { SettingOverride } from '../../config/origins.ts';
import { SECTION_TITLES, SETTING_PLACES, type SettingSchema } from '../../config/settings.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { MESSAGE_SCHEMA } from '../../lib/localized-message.ts';
import { list, named, object, optional } from '../../lib/object-schema.ts';

export interface ConfigSection {
  readonly name: string;
  readonly title: string;
  /** Where the section is an object of the file: all of its keys belong to it. */
  readonly path?: readonly string[];
  /** Where it is made of single keys: its own name of each → where that stands in the file. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** Where a key may stand too; the place of `keys` wins, and is written to. */
  readonly alsoAt?: Readonly<Record<string, readonly string[]>>;
  /** Objects of the section whose keys are names that people choose; `*` is any of these. */
  readonly named?: readonly (readonly string[])[];
  /** Places of values that are secrets whatever their keys are. */
  readonly secret?: readonly (readonly string[])[];
}

export const CONFIG_SECTIONS: readonly ConfigSection[] = Object.entries(SECTION_TITLES).map(
  ([name, title]) => toSection(name, title),
);

function toSection(name: string, title: string): ConfigSection {
  const places = SETTING_PLACES.filter(({ section }) => section === name);
  const [first] = places;
  if (first?.schema.type === 'object') {
    const named = placesWith('isNamed', first.schema);
    const secret = placesWith('isSecret', first.schema);
    return { name, title, path: first.path, named, secret };
  }
  const keyed = places.map(({ path }) => [path.at(-1) ?? '', path] as const);
  const keys = Object.fromEntries(keyed);
  const others = keyed.filter(([key, path]) => keys[key] !== path);
  return { name, title, keys, ...(others.length > 0 && { alsoAt: Object.fromEntries(others) }) };
}

function placesWith(
  mark: 'isNamed' | 'isSecret',
  schema: SettingSchema,
  path: readonly string[] = [],
): (readonly string[])[] {
  const { additionalProperties, properties = {} } = schema;
  const inner = Object.entries(
    additionalProperties === undefined ? properties : { '*': additionalProperties },
  );
  return [
    ...(schema[mark] === true ? [path] : []),
    ...inner.flatMap(([key, each]) => placesWith(mark, each, [...path, key])),
  ];
}

/** A section's own part of the file, secrets included; absent keys are absent. */
export function readSection(section: ConfigSection, raw: JsonObject): JsonObject {
  if (section.path !== undefined) {
    const found = valueAt(raw, section.path);
    return isJsonObject(found) ? found : {};
  }
  const values: [string, JsonValue][] = [];
  for (const [name, path] of Object.entries(section.keys ?? {})) {
    const value = valueAt(raw, path) ?? valueAt(raw, section.alsoAt?.[name] ?? path);
    if (value !== undefined) values.push([name, value]);
  }
  return Object.fromEntries(values);
}

/** What of a section a flag or the environment wins over, by the section's own key paths. */
export function overridesOf(
  section: ConfigSection,
  overrides: readonly SettingOverride[],
): Record<string, Omit<SettingOverride, 'path'>> {
  const places: readonly (readonly [string, readonly string[]])[] =
    section.path === undefined ? Object.entries(section.keys ?? {}) : [['', section.path]];
  const found = places.flatMap(([name, place]) =>
    overrides.flatMap(({ path, ...override }) => {
      if (!place.every((step, index) => path[index] === step)) return [];
      const inner = [...(name === '' ? [] : [name]), ...path.slice(place.length)].join('.');
      return inner === '' ? [] : [[inner, override] as const];
    }),
  );
  return Object.fromEntries(found);
}

export function placePatch(section: ConfigSection, patch: JsonObject): JsonObject {
  if (section.path !== undefined) return wrap(section.path, patch);
  const file: JsonObject = {};
  for (const [name, value] of Object.entries(patch)) {
    const path = section.keys?.[name] ?? [name];
    const [first = '', ...rest] = path;
    const known = file[first];
    const inner = rest.length === 0 ? value : wrap(rest, value);
    file[first] = isJsonObject(known) && isJsonObject(inner) ? { ...known, ...inner } : inner;
  }
  return file;
}

/** Keyed, so that a revision tells nothing of the secrets that went into it. */
export function revisionOf(values: JsonObject, key: string): string {
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('base64url').slice(0, 22);
}

/** A secret as it is shown; sent back like this it stays as it is. */
const SET = { isSet: true } as const;

/** By the words of its key, also for unknown keys; names that people choose do not count. */
const SECRET_KEY =
  /(?:^|_|-)(?:key|keys|secret|secrets|password|passphrase|token|credential|credentials|authorization|webhook)$/i;

/** What of a section is looked at: the steps that led there. */
interface Place {
  readonly section: ConfigSection;
  readonly path: readonly string[];
}

function isShownSecret(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 1 && value.isSet === true;
}

export function dropUnchangedSecrets(patch: JsonObject, place: Place): JsonObject {
  return mapObject(patch, (value, key) => {
    if (isSecretKey(key, place) && isShownSecret(value)) return undefined;
    if (typeof value === 'string' && HIDDEN_PASSWORD.test(value)) return undefined;
    return isJsonObject(value) ? dropUnchangedSecrets(value, below(place, key)) : value;
  });
}

/** The values with every secret replaced by `{"isSet": true}`. */
export function hideSecrets(values: JsonObject, place: Place): JsonObject {
  return mapObject(values, (value, key) => {
    const isHarmless = value === null || typeof value === 'boolean' || value === '';
    if (!isHarmless && isSecretKey(key, place)) return SET;
    return hideIn(value, below(place, key));
  });
}

/** All sections by name, without secrets. */
export function showSettings(raw: JsonObject): JsonObject {
  return Object.fromEntries(
    CONFIG_SECTIONS.map((section) => [
      section.name,
      hideSecrets(readSection(section, raw), { section, path: [] }),
    ]),
  );
}

function hideIn(value: JsonValue, place: Place): JsonValue {
  if (Array.isArray(value)) return value.map((item) => hideIn(item, place));
  if (isJsonObject(value)) return hideSecrets(value, place);
  if (typeof value !== 'string') return value;
  // An address may hold a user and a password.
  return value.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#@\s]+@/i, '$1[hidden]@');
}

function below({ section, path }: Place, key: string): Place {
  return { section, path: [...path, key] };
}

/** A model or an upstream may be called `my-key`: what people choose says nothing of what it holds. */
function isSecretKey(key: string, { section, path }: Place): boolean {
  if (isAmong(section.secret, [...path, key])) return true;
  return !isAmong(section.named, path) && SECRET_KEY.test(key);
}

function isAmong(places: ConfigSection['named'] = [], path: readonly string[]): boolean {
  return places.some(
    (place) =>
      place.length === path.length &&
      place.every((step, index) => step === '*' || step === path[index]),
  );
}

/** A list that holds an address as it is shown: what was hidden in it cannot be told from it. */
export function holdsHiddenPassword(patch: JsonValue): boolean {
  if (Array.isArray(patch)) return patch.some(holdsHiddenPassword);
  if (isJsonObject(patch)) return Object.values(patch).some(holdsHiddenPassword);
  return typeof patch === 'string' && HIDDEN_PASSWORD.test(patch);
}

const HIDDEN_PASSWORD = /^[a-z][a-z\d+.-]*:\/\/\[hidden\]@/i;

function mapObject(
  object: JsonObject,
  change: (value: JsonValue, key: string) => JsonValue | undefined,
): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    const changed = change(value, key);
    if (changed !== undefined) entries.push([key, changed]);
  }
  // Own keys only, whatever they are called.
  return Object.fromEntries(entries);
}

export const SECTION_SCHEMA = named('ConfigSection', {
  section: { type: 'string' },
  title: { type: 'string' },
  revision: { type: 'string', description: 'For `If-Match`.' },
  values: {
    type: 'object',
    description:
      'What the config file says, in its own words; absent keys have their defaults, and ' +
      'environment and flags win. A secret is shown as `{"isSet": true}`.',
  },
  warnings: optional(
    list(MESSAGE_SCHEMA, 'Of a change that was made: what of it will not work as things are now.'),
  ),
  overrides: {
    type: 'object',
    description: 'Key path → what wins over the file there, until the next start.',
    additionalProperties: object({
      origin: { enum: ['flag', 'environment'] },
      name: { type: 'string', description: '`--port` or `PORT`.' },
      value: optional({ description: 'What holds instead; absent for secrets.' }),
    }),
  },
});

export const SECTIONS_SCHEMA = named('Config', {
  sections: list(SECTION_SCHEMA),
});

export const PATCH_SCHEMA = {
  type: 'object',
  description:
    'A merge patch (RFC 7396) of the values: null removes a key, what is absent stays. A secret ' +
    'sent as it was shown stays too. A key that is no setting is refused unless the file holds it already.',
} as const;

export const PRESETS_SCHEMA = named('Presets', {
  presets: list(
    object({
      name: { type: 'string' },
      description: { type: 'string' },
      mapping: { type: 'object', additionalProperties: { type: 'string' } },
      patch: {
        type: 'object',
        description: 'What applying it changes now: a merge patch of the section `mapping`.',
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
    }),
  ),
});
