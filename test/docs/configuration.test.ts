// docs/configuration.md is what the settings table and the variables say; UPDATE_DOCS=1 writes it anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/env.ts';
import { CONFIG_SCHEMA, type SettingSchema } from '../../src/config/settings.ts';
import { NOTE } from './generate.ts';

test('docs/configuration.md is what the schema and the variables say', () => {
  const path = join(import.meta.dirname, '../../docs/configuration.md');
  const page = describeConfiguration();
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});

test('every key and variable has a meaning', () => {
  expect(describeConfiguration()).not.toMatch(/\| {2,}\|/);
});

const INTRODUCTION = `# Configuration

${NOTE}

Command-line flags win over environment variables, those over the config file, and that over the defaults.

The config file is \`gui_config.json\` in the data folder. A change in the console applies from the next request, a change
of the file within a second; \`host\`, \`port\`, \`tls_cert\`, \`tls_key\`, \`sign_in_link\` and \`update_check\` apply at the next
start. An invalid change is refused, and the settings in use stay. If the file is invalid or missing at startup, its last
valid copy (\`gui_config.json.bak\`) is used; without a copy, an invalid file keeps the gateway from starting, and a missing
one means the defaults. Keys that are not listed here are kept unchanged.

## Environment

Every variable may also be given as \`NAME_FILE\`, the path of a file that contains the value. An empty
variable counts as not set; an invalid value keeps the gateway from starting.
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
