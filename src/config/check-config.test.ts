import { expect, test } from 'vitest';
import type { JsonValue } from '../lib/json.ts';
import { checkConfig } from './check-config.ts';

function problems(raw: JsonValue): readonly string[] {
  const checked = checkConfig(raw);
  return checked.kind === 'bad' ? checked.problems : [];
}

test('unknown keys are fine at every level (P192)', () => {
  expect(problems({ theme: 'dark', proxy: { zoom: 3, extprov: { other: {} } } })).toEqual([]);
});

test.each<[JsonValue, string]>([
  [[], '(root): must be an object'],
  [{ api_key: 5 }, 'api_key: must be string'],
  [{ proxy: { port: 1.5 } }, 'proxy.port: must be integer'],
  [{ proxy: { auth_mode: 'none' } }, 'proxy.auth_mode: must be one of off, auto, strict'],
  [{ auth_mode: 'none' }, 'auth_mode: must be one of'],
  [{ proxy: { auth_mode: null } }, 'proxy.auth_mode: must be one of'],
  [{ proxy: { custom_mapping: { 'gpt*': 1 } } }, 'proxy.custom_mapping["gpt*"]: must be string'],
  [{ proxy: { trusted_proxies: ['0.0.0.0/0'] } }, 'proxy.trusted_proxies: must not trust'],
  [{ proxy: { cors_origins: ['*'] } }, 'proxy.cors_origins: must be origins'],
  [{ proxy: { thinking: { budget: 1023 } } }, 'proxy.thinking.budget: must be >= 1024'],
  [{ proxy: { thinking: { budget: 2048.5 } } }, 'proxy.thinking.budget: must be integer'],
  [{ proxy: { thinking: { mode: 'max' } } }, 'proxy.thinking.mode: must be one of auto, pass'],
  [{ proxy: { extprov: { dispatch_mode: 'on' } } }, 'proxy.extprov.dispatch_mode: must be one of'],
])('%j is refused with its JSON path', (raw, start) => {
  expect(problems(raw)[0]).toContain(start);
});

test.each<[JsonValue, string]>([
  [{ proxy: { auth_modf: 'strict' } }, 'proxy.auth_modf'],
  [{ proxy: { authMode: 'strict' } }, 'proxy.authMode'],
  [{ prozy: {} }, 'prozy'],
  [{ apikey: 'k' }, 'apikey'],
])('%j holds a misspelt key, which must not weaken anything silently (T27)', (raw, path) => {
  expect(problems(raw)[0]).toContain(`${path}: unknown key`);
});

test('secrets are not repeated in problems', () => {
  expect(problems({ api_key: 'my secret' }).join()).not.toContain('my secret');
});
