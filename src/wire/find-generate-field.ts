// Finds a field of a generate-content request by any spelling a client may use.

import type { FieldKind, GenerateMessage } from './generate-field-kinds.ts';
import { MESSAGE_FIELDS } from './generate-fields.ts';
import { keyIn } from './vocabulary.ts';

/** A field under its official camelCase name. */
export interface GenerateField {
  readonly name: string;
  readonly kind: FieldKind;
}

/** Keys of the Schema dialect that snake case spells differently (public reference: Schema). */
const SCHEMA_KEYS = [
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'anyOf',
  'propertyOrdering',
];

const SCHEMA_SPELLINGS = new Map(SCHEMA_KEYS.map((key) => [snakeCase(key), key]));

/** Names that follow no rule: an older one, and the official client's own word for what it sends. */
const ALIASES: readonly (readonly [GenerateMessage, alias: string, name: string])[] = [
  ['GenerationConfig', '_responseJsonSchema', 'responseJsonSchema'],
  ['GenerationConfig', 'modelSelectionConfig', 'modelConfig'],
  ['GenerationConfig', 'model_selection_config', 'modelConfig'],
];

const SPELLINGS = indexSpellings();

/** The field a key stands for, in camelCase or snake_case and in either vocabulary. */
export function findField(owner: GenerateMessage, key: string): GenerateField | undefined {
  return SPELLINGS.get(owner)?.get(key);
}

/** The camelCase spelling of a Schema key; other keys unchanged. */
export function officialSchemaKey(key: string): string {
  return SCHEMA_SPELLINGS.get(key) ?? key;
}

function indexSpellings(): ReadonlyMap<string, ReadonlyMap<string, GenerateField>> {
  const index = new Map<string, Map<string, GenerateField>>();
  for (const [owner, fields] of Object.entries(MESSAGE_FIELDS)) {
    const spellings = new Map<string, GenerateField>();
    for (const [name, kind] of Object.entries(fields)) {
      for (const word of [name, keyIn('neutral', name)]) {
        spellings.set(word, { name, kind }).set(snakeCase(word), { name, kind });
      }
    }
    index.set(owner, spellings);
  }
  for (const [owner, alias, name] of ALIASES) {
    const field = index.get(owner)?.get(name);
    if (field !== undefined) index.get(owner)?.set(alias, field);
  }
  return index;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
