// Walks the schema of the config file: its keys as dotted paths, names of the operator's choice as `<name>`.

export interface KeySchema {
  readonly type?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, KeySchema>> | undefined;
  readonly additionalProperties?: KeySchema | undefined;
}

/** Every key that holds a value; a table of texts or limits counts as one. */
export function leavesOf(schema: KeySchema, before = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, key]) => {
    const path = `${before}${name}`;
    if (key.properties !== undefined) return leavesOf(key, `${path}.`);
    const inner = key.additionalProperties;
    // A table whose entries have sections of their own, such as the upstreams.
    if (inner?.properties?.profile !== undefined) return leavesOf(inner, `${path}.<name>.`);
    return [path];
  });
}

export function schemaAt(schema: KeySchema, path: readonly string[]): KeySchema | undefined {
  return path.reduce<KeySchema | undefined>((found, step) => found?.properties?.[step], schema);
}
