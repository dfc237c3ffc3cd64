// A new settings file in each format, with texts quoted so that nothing in them is run.

import type {
  SettingEntry,
  SettingsFormat,
  SettingValue,
  SetUp,
  ShellFormat,
  Variable,
} from './client-settings.ts';

export function writeSettings(format: SettingsFormat, entries: readonly SettingEntry[]): string {
  const object = toObject(entries);
  if (format === 'json') return `${JSON.stringify(object, null, 2)}\n`;
  if (format === 'toml') return writeToml(object);
  if (format === 'yaml') return `${writeYaml(object).join('\n')}\n`;
  const lines = Object.entries(object).map(([name, value]) => {
    const variable = [name, String(value)] as const;
    return format === 'dotenv' ? writeDotenv(variable) : writeExport(variable, format);
  });
  return `${lines.join('\n')}\n`;
}

type SettingObject = { [name: string]: SettingValue };

/** The values of entries in one object; an item of a list becomes its only one. */
export function toObject(entries: readonly SettingEntry[]): SettingObject {
  const root: SettingObject = {};
  for (const { path, value } of entries) put(root, path, value);
  return root;
}

function put(object: SettingObject, path: SettingEntry['path'], value: SettingValue): void {
  const [step, next] = path;
  if (typeof step !== 'string') throw new Error('A list has a name.');
  if (next === undefined) {
    object[step] = value;
  } else if (typeof next !== 'string') {
    object[step] = [value];
  } else {
    const inner = { ...(object[step] as SettingObject | undefined) };
    object[step] = inner;
    put(inner, path.slice(1), value);
  }
}

export function writeExport([name, value]: Variable, shell: ShellFormat): string {
  if (shell === 'powershell') return `$env:${name} = ${quoteWord(value, shell)}`;
  if (shell === 'fish') return `set -gx ${name} '${value.replace(/[\\']/g, '\\$&')}'`;
  return `export ${name}=${writeWord(value, shell)}`;
}

/** One line of a `.env` file: readers differ in what they do with quotes, and agree on plain words. */
export function writeDotenv([name, value]: Variable): string {
  return `${name}=${/^[\w./:@%+-]+$/.test(value) ? value : quoteText(value)}`;
}

function writeToml(object: SettingObject): string {
  const values = Object.entries(object).filter(([, value]) => !isTable(value));
  const tables = Object.entries(object).flatMap(([name, value]) =>
    isTable(value) ? listTables([name], value) : [],
  );
  const head = values.map(([name, value]) => writeTomlLine(name, value));
  return `${[head.join('\n'), ...tables].filter((part) => part !== '').join('\n\n')}\n`;
}

export function listTables(path: readonly string[], table: SettingObject): readonly string[] {
  const values = Object.entries(table).filter(([, value]) => !isTable(value));
  const inner = Object.entries(table).flatMap(([name, value]) =>
    isTable(value) ? listTables([...path, name], value) : [],
  );
  if (values.length === 0) return inner;
  const lines = values.map(([name, value]) => writeTomlLine(name, value));
  return [[`[${path.map(writeTomlKey).join('.')}]`, ...lines].join('\n'), ...inner];
}

function writeTomlLine(name: string, value: SettingValue): string {
  return `${writeTomlKey(name)} = ${typeof value === 'string' ? quoteText(value) : JSON.stringify(value)}`;
}

function writeTomlKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : quoteText(name);
}

function isTable(value: SettingValue | undefined): value is SettingObject {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Lines in block style; lists of values in one line. */
export function writeYaml(object: SettingObject): readonly string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    if (isTable(value)) return [`${name}:`, ...writeYaml(value).map((line) => `  ${line}`)];
    if (Array.isArray(value) && value.some(isTable)) {
      return [`${name}:`, ...value.flatMap((item) => writeYamlItem(item))];
    }
    return [`${name}: ${writeYamlValue(value)}`];
  });
}

/** An item of a block list, indented as much as its dash takes. */
export function writeYamlItem(item: SettingValue): readonly string[] {
  if (!isTable(item)) return [`  - ${writeYamlValue(item)}`];
  return writeYaml(item).map((line, index) => (index === 0 ? `  - ${line}` : `    ${line}`));
}

function writeYamlValue(value: SettingValue): string {
  if (Array.isArray(value)) return `[${value.map(writeYamlValue).join(', ')}]`;
  if (typeof value !== 'string') return JSON.stringify(value);
  // Plain where no reader takes it for anything but this text.
  return /^[A-Za-z][A-Za-z_-]*$/.test(value) &&
    !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(value)
    ? value
    : quoteText(value);
}

export type Shell = 'posix' | 'powershell';

/** What every shell takes as it stands, wherever it stands. */
const PLAIN = /^[A-Za-z0-9_./:][A-Za-z0-9_./:-]*$/;

/** One word of a command line, in quotes where it needs them. */
export function writeWord(text: string, shell: Shell): string {
  return PLAIN.test(text) ? text : quoteWord(text, shell);
}

export function quoteWord(text: string, shell: Shell): string {
  if (shell === 'posix') return `'${text.replaceAll("'", "'\\''")}'`;
  // PowerShell ends a text at curly quotes as well; twice, each stands for itself.
  return `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;
}

export function quoteScript(text: string): string {
  return `'${escapeIn(text, "'")}'`;
}

/** A text of Python, TOML and YAML, in double quotes. */
export function quoteText(text: string): string {
  return `"${escapeIn(text, '"')}"`;
}

function escapeIn(text: string, quote: string): string {
  return text.replace(/[\\'"\p{Cc}\u2028\u2029]/gu, (character) => {
    if (character === '\\' || character === quote) return `\\${character}`;
    if (character === "'" || character === '"') return character;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** `connect` writes the client's settings; `launch` starts it and changes none. */
export type SetUpVerb = 'connect' | 'launch';

/** @param id of the client */
export function writeSetUpCommand(
  verb: SetUpVerb,
  id: string,
  { address, key, model }: SetUp,
  shell: Shell,
): string {
  const words = [address, key, model].map((one) => writeWord(one, shell));
  const [url, secret, name] = words;
  return `isthmus ${verb} ${id} --url ${url} --key ${secret} --model ${name}`;
}
