import { expect, onTestFinished, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { resolveSettings, type Settings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { NO_PROXY } from '../lib/outbound-proxy.ts';
import { openBackend } from './backend.ts';

type Upstreams = NonNullable<Parameters<typeof resolveSettings>[0]['file']['upstreams']>;

function settingsOf(
  upstreams: Upstreams,
  variables: Readonly<Record<string, string>> = {},
): Settings {
  const environment = readEnvironment({ variables, readText: () => '' });
  return resolveSettings({ environment, file: { upstreams } });
}

/** The backend of these settings, and how to put others in force. */
async function start(first: Settings) {
  let settings = first;
  let build = (): void => {};
  const backend = await openBackend({
    current: () => settings,
    subscribe: (listener) => {
      build = listener;
    },
    hasStoredAccounts: false,
    openSecret: (sealed) => sealed,
    version: '1',
    clock: createFakeClock(),
    answerRoom: { take: () => {}, release: () => {} },
    proxyFor: NO_PROXY,
    log: { warn: () => {} },
  });
  onTestFinished(() => backend.close());
  return {
    backend,
    set(next: Settings): void {
      settings = next;
      build();
    },
  };
}

test('an upstream keeps its connections when its sign-in changes, not when its address does', async () => {
  const own = { profile: 'generic', base_url: 'http://127.0.0.1:9' } as const;
  const { backend, set } = await start(settingsOf({ own }));
  const built = backend.upstreams.get('own');
  expect(built).toBeDefined();
  const oauth = { client_id: 'c', token_url: 'https://sign-in.example/token' };
  set(
    settingsOf({
      own: { ...own, oauth: { ...oauth, authorization_url: 'https://sign-in.example' } },
    }),
  );
  expect(backend.upstreams.get('own')).toBe(built);
  set(settingsOf({ own: { ...own, base_url: 'http://127.0.0.1:10' } }));
  expect(backend.upstreams.get('own')).not.toBe(built);
});

test('an upstream that is named without an address is not built', async () => {
  const variables = { UPSTREAM_PROFILE: 'generic', UPSTREAM_API_KEYS: 'k' };
  const { backend } = await start(settingsOf({}, variables));
  expect(backend.unaddressed()).toEqual(['generic']);
  expect(backend.upstreams.get('generic')).toBeUndefined();
});
