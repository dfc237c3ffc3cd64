// JSON schemas of objects that say each field once, and the types of what they describe.

import type { XSchema, XStatic } from 'typebox/schema';

export const TEXT = { type: 'string' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;

/** One line of which something can be seen. */
export const VISIBLE_LINE = '^[^\\p{Cc}]*[^\\s\\p{C}][^\\p{Cc}]*$';

/** What people call a thing of theirs. */
export const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: VISIBLE_LINE,
} as const;

/** A list of such items. */
export function list<const Items>(items: Items, description?: string) {
  return { type: 'array', ...(description !== undefined && { description }), items } as const;
}

interface OptionalField<Schema extends XSchema = XSchema> {
  readonly optional: Schema;
}

type Fields = Readonly<Record<string, XSchema | OptionalField>>;

type RequiredNames<Given extends Fields> = {
  [Name in keyof Given]: Given[Name] extends OptionalField ? never : Name;
}[keyof Given];

interface ObjectSchema<Given extends Fields> {
  readonly type: 'object';
  /** A tuple of the union, as `XStatic` takes the names from tuples alone. */
  readonly required: [RequiredNames<Given> & string];
  readonly additionalProperties: false;
  readonly properties: {
    readonly [Name in keyof Given]: Given[Name] extends OptionalField<infer Schema>
      ? Schema
      : Given[Name];
  };
}

type Optionals<Given> = {
  readonly [Name in keyof Given]: Given[Name] extends XSchema ? OptionalField<Given[Name]> : never;
};

/** A field that may be absent. */
export function optional<const Schema extends XSchema>(schema: Schema): OptionalField<Schema> {
  return { optional: schema };
}

/** Fields that may each be absent. */
export function optionals<const Given extends Readonly<Record<string, XSchema>>>(
  given: Given,
): Optionals<Given> {
  const fields = Object.entries(given).map(([name, schema]) => [name, optional(schema)]);
  return Object.fromEntries(fields);
}

/** An object of these fields and no others; a field is required unless it is `optional`. */
export function object<const Given extends Fields, const Keywords extends object = object>(
  given: Given,
  keywords?: Keywords & { readonly title?: string },
): ObjectSchema<Given> & Keywords {
  const { title, ...others } = keywords ?? {};
  const required: string[] = [];
  const properties: Record<string, XSchema> = {};
  for (const [name, field] of Object.entries<XSchema | OptionalField>(given)) {
    const isOptional = typeof field === 'object' && 'optional' in field;
    if (!isOptional) required.push(name);
    properties[name] = isOptional ? field.optional : field;
  }
  const schema = {
    ...(title !== undefined && { title }),
    type: 'object',
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...others,
    properties,
  };
  // What the loop did with values, the type does with their types.
  return schema as unknown as ObjectSchema<Given> & Keywords;
}

/** As `object`, under a title: it names the schema in the description of the admin API. */
export function named<
  const Title extends string,
  const Given extends Fields,
  const Keywords extends object = object,
>(title: Title, given: Given, keywords?: Keywords) {
  return { title, ...object(given, keywords) };
}

/** As `object`, with every field optional. */
export function partial<
  const Given extends Readonly<Record<string, XSchema>>,
  const Keywords extends object = object,
>(given: Given, keywords?: Keywords & { readonly title?: string }) {
  return object(optionals(given), keywords);
}

/** What a schema describes, as the program keeps it: nobody changes it, and an absent field may be undefined. */
export type ValueOf<Schema> = Kept<XStatic<Schema>>;

type Kept<Shape> = Shape extends readonly (infer Item)[]
  ? readonly Kept<Item>[]
  : Shape extends object
    ? {
        readonly [Key in keyof Shape]: object extends Pick<Shape, Key>
          ? Kept<Shape[Key]> | undefined
          : Kept<Shape[Key]>;
      }
    : Shape;
