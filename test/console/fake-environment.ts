// The environment of the fixture server: what it says, and what it wins over.

import { CONFIG_SECTIONS, overridesOf } from '../../src/admin/config/sections.ts';
import type { ConfigSection, EnvironmentVariable } from '../../src/admin/contract.ts';
import { resolveSettings } from '../../src/config/effective.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { listOverrides, listVariables } from '../../src/config/origins.ts';
import type { Scene } from './fake-route.ts';

const GIVEN = {
  API_KEY: 'sk-of-the-environment',
  TRUSTED_PROXIES: '10.0.0.0/8, 192.168.0.0/16',
  UPSTREAM_BASE_URL: 'https://models.example/v1',
  UPSTREAM_API_KEYS: 'one,two',
  REDIS_URL: 'rediss://user:secret@cache.example:6380/0',
  ISTHMUS_DATA_DIR: '/srv/isthmus',
};

export interface FakeEnvironment {
  readonly variables: readonly EnvironmentVariable[];
  overrides(section: string): ConfigSection['overrides'];
}

export function createFakeEnvironment(scene: Scene): FakeEnvironment {
  const variables = scene === 'rich' ? GIVEN : {};
  const environment = readEnvironment({ variables, readText: () => '' });
  const sources = { flags: scene === 'rich' ? { port: 8045 } : {}, environment };
  const settings = resolveSettings({ ...sources, file: {} });
  return {
    variables: listVariables(sources, settings, () => false).map((variable) => ({
      ...variable,
      flag: variable.flag ?? null,
      value: variable.value ?? null,
      settingKey: variable.settingKey ?? null,
      restart: variable.restart ?? null,
    })),
    overrides(name) {
      const section = CONFIG_SECTIONS.find((one) => one.name === name);
      return section === undefined ? {} : overridesOf(section, listOverrides(sources));
    },
  };
}
