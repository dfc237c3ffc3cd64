import { expect, test } from 'vitest';
import type { SettingEntry, SettingsFormat } from '../../clients/client-settings.ts';
import { digestOf, takeBack, writeEntries } from './settings-file.ts';
import { applyChanges, readTree, setEntries, valueAt } from './settings-formats.ts';

const TABLE = { name: 'isthmus', base_url: 'http://127.0.0.1:8045/v1' };

/** Name of a case, the text before, and the text after, with `…` for all that stays. */
const CASES: readonly [string, SettingsFormat, string, readonly SettingEntry[], string][] = [
  [
    'an object with comments and a trailing comma',
    'json',
    '{\n  // mine\n  "a": 1, /* one */\n  "env": { "B": "b", },\n}\n',
    [{ path: ['env', 'C'], value: 'c' }],
    '{\n  // mine\n  "a": 1, /* one */\n  "env": { "B": "b","C": "c", },\n}\n',
  ],
  [
    'tabs and the line ends of Windows',
    'json',
    '{\r\n\t"a": 1\r\n}\r\n',
    [{ path: ['b', 'c'], value: 'd' }],
    '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": "d"\r\n\t}\r\n}\r\n',
  ],
  [
    'a value that stands there already',
    'json',
    '{"a":"b"}',
    [{ path: ['a'], value: 'b' }],
    '{"a":"b"}',
  ],
  [
    'the mark that some editors begin a file with',
    'json',
    '\ufeff{"a":1}',
    [{ path: ['a'], value: 'b' }],
    '\ufeff{"a":"b"}',
  ],
  [
    'a list whose item is found by a field',
    'json',
    '{"list":[{"k":"x"},{"k":"ours","v":1}]}',
    [{ path: ['list', { field: 'k', is: 'ours' }], value: { k: 'ours', v: 2 } }],
    '{"list":[{"k":"x"},{"k":"ours","v":2}]}',
  ],
  [
    'a root key and a table beside others',
    'toml',
    '# my settings\nmodel = "gpt" # the best\n\n[model_providers.other] # theirs\nname = "x"\n\n[features]\na = [\n  1,\n]\n',
    [
      { path: ['model'], value: 'm' },
      { path: ['model_providers', 'isthmus'], value: TABLE },
    ],
    '# my settings\nmodel = "m" # the best\n\n[model_providers.other] # theirs\nname = "x"\n\n[features]\na = [\n  1,\n]\n\n[model_providers.isthmus]\nname = "isthmus"\nbase_url = "http://127.0.0.1:8045/v1"\n',
  ],
  [
    'a table in a file of Windows without a last line end',
    'toml',
    '[features]\r\na = true',
    [{ path: ['model_providers', 'isthmus'], value: { name: 'isthmus' } }],
    '[features]\r\na = true\r\n\r\n[model_providers.isthmus]\r\nname = "isthmus"\r\n',
  ],
  [
    'fields in a file of comments',
    'yaml',
    '## options\n# model: xxx\n',
    [{ path: ['model'], value: 'openai/m' }],
    '## options\n# model: xxx\nmodel: "openai/m"\n',
  ],
  [
    'a field and a list in front of the mark of its end',
    'yaml',
    '---\na: 1\n# mine\n...\n# no setting\n',
    [
      { path: ['model'], value: 'm' },
      { path: ['models', { field: 'name', is: 'isthmus' }], value: { name: 'isthmus' } },
    ],
    '---\na: 1\n# mine\nmodel: m\nmodels:\n  - name: isthmus\n...\n# no setting\n',
  ],
  [
    'a field with a comment behind it',
    'yaml',
    'a: 1\nmodel: old # mine\nb:   2\n',
    [{ path: ['model'], value: 'new' }],
    'a: 1\nmodel: new # mine\nb:   2\n',
  ],
  [
    'a block list, before its first item and indented as that is',
    'yaml',
    'models:\n- name: other # cheap\n  model:   x\nrules: []\n',
    [
      {
        path: ['models', { field: 'name', is: 'isthmus' }],
        value: { name: 'isthmus', model: 'm' },
      },
    ],
    'models:\n- name: isthmus\n  model: m\n- name: other # cheap\n  model:   x\nrules: []\n',
  ],
  [
    'variables, of which one is set already',
    'dotenv',
    '# keys\nA=1\nexport KEY="old" # note\nB=2',
    [
      { path: ['KEY'], value: 'sk-new' },
      { path: ['URL'], value: 'http://127.0.0.1:8045' },
    ],
    '# keys\nA=1\nKEY=sk-new\nB=2\nURL=http://127.0.0.1:8045\n',
  ],
  [
    'the start file of a shell, whose own lines stay',
    'posix',
    'export MODEL=mine\n',
    [{ path: ['MODEL'], value: 'it’s mine' }],
    "export MODEL=mine\nexport MODEL='it’s mine' # isthmus\n",
  ],
];

test.each(CASES)(
  'sets values in %s, and leaves the rest as it is',
  (_name, format, before, entries, after) => {
    const text = setEntries(format, before, entries);
    expect(text).toBe(after);
    for (const { path, value } of entries)
      expect(valueAt(readTree(format, text), path)).toEqual(value);
    expect(setEntries(format, text, entries)).toBe(text);
  },
);

test.each(CASES)(
  'takes back what it set in %s, also after an edit',
  (_name, format, before, entries) => {
    const { text, changes } = writeEntries(format, before, entries);
    const written = { path: '', format, before, digest: digestOf(text), changes, folders: [] };
    expect(takeBack(text, written)).toBe(before);
    const edited = editElsewhere(format, text);
    const taken = takeBack(edited, written) ?? '';
    expect(readTree(format, taken)).toEqual(readTree(format, editElsewhere(format, before)));
  },
);

/** As a person would, who adds one setting of their own. */
function editElsewhere(format: SettingsFormat, text: string): string {
  return applyChanges(format, text, [{ path: ['addedLater'], value: 'yes' }]);
}

test.each<[SettingsFormat, string, string]>([
  ['json', '{\n  "a": 1,\n  b\n}', 'Line 3 is no JSON'],
  ['toml', 'a = 1\nb = = 2\n', 'Line 2 is no TOML'],
  ['yaml', 'a: 1\nb: [1\n', 'is no YAML'],
  ['json', '[1]', 'Its top is no object.'],
])('refuses %s that is broken, and names the line', (format, text, message) => {
  expect(() => setEntries(format, text, [{ path: ['x'], value: 'y' }])).toThrow(message);
});

test('refuses TOML whose lines end in two ways, where all of them would be written anew', () => {
  const text = 'a = 1\r\nb = 2\n';
  const change = [{ path: ['a'], value: 3 }];
  expect(() => setEntries('toml', text, change)).toThrow('Its lines end in two ways');
});

test('refuses a file that says one thing twice, since only one of them would be changed', () => {
  expect(() => setEntries('json', '{"a":1,"a":2}', [{ path: ['a'], value: 3 }])).toThrow(
    'cannot be edited without changing more',
  );
});
