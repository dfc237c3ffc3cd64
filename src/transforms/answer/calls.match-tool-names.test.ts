import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import { createNameMatcher } from './calls.ts';

function nameOf(called: string, declared: readonly string[]): string {
  const tools = declared.map((name) => ({ kind: 'function', name }) as const);
  return createNameMatcher(tools, createReceipt())(called);
}

const NAVIGATE = 'mcp__puppeteer__puppeteer_navigate';
const PUPPETEER = [NAVIGATE, 'mcp__puppeteer__puppeteer_click'];

test.each([
  ['mcp__puppeteer_navigate', NAVIGATE],
  ['mcp__navigate', NAVIGATE],
  ['mcp__puppeteer__navigate', NAVIGATE],
  ['mcp_puppeteer_puppeteer_navigate', NAVIGATE],
  ['MCP__Puppeteer__puppeteer-navigate', NAVIGATE],
  ['mcp__totally_unrelated_xyz', 'mcp__totally_unrelated_xyz'],
  ['mcp__navigate_puppeteer', 'mcp__navigate_puppeteer'],
  ['navigate', 'navigate'],
  [NAVIGATE, NAVIGATE],
])('%s reaches %s (V059, P044)', (called, expected) => {
  expect(nameOf(called, PUPPETEER)).toBe(expected);
});

test('a name that could mean two tools stays as it is', () => {
  expect(nameOf('mcp__search', ['mcp__web__search', 'mcp__files__search'])).toBe('mcp__search');
  expect(nameOf('BASH', ['Bash', 'bash'])).toBe('BASH');
});

const BROWSER = ['navigate', 'click', 'type'].map((tool) => `mcp__playwright__browser_${tool}`);

test.each([
  ['mcp__playwright__click', 'mcp__playwright__browser_click'],
  ['mcp__playwright_click', 'mcp__playwright__browser_click'],
  ['mcp__click', 'mcp__playwright__browser_click'],
  ['mcp__playwright__nav', 'mcp__playwright__nav'],
  ['mcp__playwright__browser', 'mcp__playwright__browser'],
  ['mcp__playwright', 'mcp__playwright'],
  ['mcp__issues', 'mcp__github__search_issues'],
  ['mcp__github__click', 'mcp__github__click'],
  ['mcp__firefox__click', 'mcp__firefox__click'],
  ['click', 'click'],
])(
  'some whole words of one tool alone reach it: %s reaches %s (V059, P044)',
  (called, expected) => {
    expect(nameOf(called, [...BROWSER, 'mcp__github__search_issues'])).toBe(expected);
  },
);

test('a tool of another server is never taken for the one that was named', () => {
  expect(nameOf('mcp__mail__delete', ['mcp__calendar__delete'])).toBe('mcp__mail__delete');
});

test('another letter case of a declared name counts, an exact name is never changed', () => {
  expect(nameOf('bash', ['Bash', 'Read'])).toBe('Bash');
  expect(nameOf('bash', ['Bash', 'bash'])).toBe('bash');
});

test('a prefix that is no part of any declared name falls away', () => {
  for (const called of ['default_api.Bash', 'default_api:Bash', 'functions.bash']) {
    expect(nameOf(called, ['Bash', 'Read'])).toBe('Bash');
  }
  expect(nameOf('files.delete', ['calendar.delete'])).toBe('files.delete');
  expect(nameOf('files.delete', ['files.delete', 'delete'])).toBe('files.delete');
});

test('any number of such prefixes falls away', () => {
  const prefixes = 'default_api.functions:'.repeat(100_000);
  expect(nameOf(`${prefixes}Bash`, ['Bash', 'Read'])).toBe('Bash');
});

const FILES = ['mcp__fs__read_file', 'mcp__fs__write_file', 'mcp__web__search', 'Bash'];

test.each([
  ['fs__read_file', 'mcp__fs__read_file'],
  ['mcp__fs__readFile', 'mcp__fs__read_file'],
  ['mcp__fs__read_a_file', 'mcp__fs__read_file'],
  ['fs.read_file', 'mcp__fs__read_file'],
  ['fs-read-file', 'mcp__fs__read_file'],
  ['fs_readFile', 'mcp__fs__read_file'],
  ['fs/write_file', 'mcp__fs__write_file'],
  ['mcp__fs__ReadFile', 'mcp__fs__read_file'],
  ['mcp__fs__read-the-file', 'mcp__fs__read_file'],
  ['default_api.mcp__fs__read_file', 'mcp__fs__read_file'],
  ['default_api:readFile', 'mcp__fs__read_file'],
  ['read_file', 'mcp__fs__read_file'],
  ['readFile', 'mcp__fs__read_file'],
  ['search', 'search'],
  ['mcp__fs__delete_file', 'mcp__fs__delete_file'],
  ['mcp__web__read_file', 'mcp__web__read_file'],
  ['web__read_file', 'web__read_file'],
  ['mcp__fs__file', 'mcp__fs__file'],
  ['fs', 'fs'],
  ['mcp__fs', 'mcp__fs'],
  ['read_files_of_the_web', 'read_files_of_the_web'],
])('C5: %s reaches %s', (called, expected) => {
  expect(nameOf(called, FILES)).toBe(expected);
});

test.each([
  ['mcp__fs__read_file', 'read_file'],
  ['mcp__fs__readFile', 'read_file'],
  ['fs__read_file', 'fs.read_file'],
  ['read_file', 'fs.read_file'],
  ['getWeather', 'get_weather'],
  ['get-weather', 'getWeather'],
])('C5: %s reaches the declared %s', (called, declared) => {
  expect(nameOf(called, [declared, 'other_tool'])).toBe(declared);
});

test('C5: where two declared names fit alike, the called one stays', () => {
  expect(nameOf('read_file', ['mcp__a__read_file', 'mcp__b__read_file'])).toBe('read_file');
  expect(nameOf('Read-File', ['read_file', 'readFile'])).toBe('Read-File');
  expect(nameOf('readAFile', ['read_file', 'readFile'])).toBe('readAFile');
});

test('C5: an answer of many unknown names over many tools is looked through once', () => {
  const names = Array.from({ length: 5000 }, (_, index) => `mcp__server${index}__read_file`);
  let read = 0;
  const tools = names.map((name) => ({
    kind: 'function' as const,
    get name() {
      read += 1;
      return name;
    },
  }));
  const match = createNameMatcher(tools, createReceipt());
  for (let index = 0; index < 5000; index += 1) {
    match(`mcp__made_up${index}`);
  }
  expect(read).toBe(5000);
});

test('a changed name is noted', () => {
  const receipt = createReceipt();
  createNameMatcher([{ name: 'Bash' }], receipt)('bash');
  expect(receipt.entries).toMatchObject([{ action: 'repaired', path: 'tool_calls.Bash' }]);
});
