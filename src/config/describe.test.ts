import { expect, test } from 'vitest';
import { VARIABLES } from './env.ts';
import { CONFIG_SCHEMA, type SettingSchema } from './settings.ts';

test('docs/configuration.md is what the schema and the variables say', async () => {
  await expect(describeConfiguration()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('every key and variable has a meaning', () => {
  expect(describeConfiguration()).not.toMatch(/\| {2,}\|/);
});

const INTRODUCTION = `# Configuration

<!-- Written from src/config by describeConfiguration(); run "npx vitest run src/config/describe -u" after a change. -->

Command-line flags win over environment variables, those over the config file, and that over the defaults.

The config file is \`gui_config.json\` in the data folder. What is changed in the console takes effect
on the next request, what is changed in the file as soon as that is noticed, within a second; address and port on the
next start. A change that cannot be used is refused, and the running settings stay.
A file that cannot be used at start, or is gone, is replaced by its last good copy (\`gui_config.json.bak\`); without one
a file that cannot be used keeps the gateway from starting, and a missing one means the defaults. Keys that are not
listed here are kept as they are.

## Environment

Every variable may also be given as \`NAME_FILE\`, the path of a file that holds the value. An empty
variable counts as not set; a value that cannot be used keeps the gateway from starting.
`;

/** The whole reference as Markdown. */
function describeConfiguration(): string {
  return [
    INTRODUCTION,
    table(['Variable', 'Meaning', 'Without it'], variableRows()),
    '',
    '## Config file',
    '',
    table(['Key', 'Type', 'Default', 'Meaning'], keyRows(CONFIG_SCHEMA, '')),
    '',
  ].join('\n');
}

function variableRows(): string[][] {
  return Object.values(VARIABLES).map(({ name, summary, fallback }) => [
    `\`${name}\``,
    summary,
    fallback,
  ]);
}

function keyRows(schema: SettingSchema, path: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, key]) => {
    const keyPath = `${path}${name}`;
    if (key.properties !== undefined) return keyRows(key, `${keyPath}.`);
    if (key.additionalProperties?.properties !== undefined) {
      return [
        [`\`${keyPath}\``, 'object', 'none', key.description ?? ''],
        ...keyRows(key.additionalProperties, `${keyPath}.<name>.`),
      ];
    }
    const isRequired = schema.required?.includes(name) === true;
    const absent = isRequired ? 'required' : 'none';
    const fallback = key.default === undefined ? absent : `\`${JSON.stringify(key.default)}\``;
    return [[`\`${keyPath}\``, sayType(key), fallback, key.description ?? '']];
  });
}

function sayType({ type, enum: words }: SettingSchema): string {
  if (words === undefined) return type ?? 'any';
  const lower = new Set(words.map((word) => word.toLowerCase()));
  return [...lower].map((word) => `\`${word}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
