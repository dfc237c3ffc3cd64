import { expect, test } from 'vitest';
import { createPasswordHasher, isPasswordHash, keepPasswordHashed } from './password-hash.ts';

type PasswordConfig = Parameters<typeof keepPasswordHashed>[0]['config'];

test('a hash is argon2id with a salt of its own, and only its password fits', async () => {
  const { hash, verify } = createPasswordHasher();
  const [one, two] = await Promise.all([hash('pässword'), hash('pässword')]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await verify(one, 'pa\u0308ssword')).toBe(true);
  expect(await verify(one, 'passwort')).toBe(false);
  expect(await verify(one, one)).toBe(false);
});

test('a password in plain is compared as it is; without one nothing fits', async () => {
  const { verify } = createPasswordHasher();
  expect(await verify('plain', 'plain')).toBe(true);
  expect(await verify('plain', 'plainer')).toBe(false);
  expect(await verify(undefined, '')).toBe(false);
});

test.each([
  '$argon2id$',
  '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$',
  '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
  '$argon2id$v=19$m=19456,t=99,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
])('nobody signs in with the damaged or excessive hash %s', async (damaged) => {
  const { verify } = createPasswordHasher();
  expect(isPasswordHash(damaged)).toBe(true);
  expect(await verify(damaged, damaged)).toBe(false);
});

test('a password that changes while it is hashed is not written over', async () => {
  let raw: { [key: string]: unknown } = { admin_password: 'first' };
  const lines: string[] = [];
  const config: PasswordConfig = {
    raw: () => raw,
    update: async (change) => {
      raw = { ...raw, ...change(raw) };
    },
    subscribe: () => () => undefined,
  };
  const write = (_fields: object, message: string) => void lines.push(message);
  const hash = async () => {
    raw = { admin_password: 'second' };
    return 'the hash of the first';
  };
  await keepPasswordHashed({ config, hasher: { hash }, log: { info: write, warn: write } }).close();
  expect([raw.admin_password, lines]).toEqual(['second', []]);
});

test('a plain password of the config file is replaced by its hash, also when it changes later', async () => {
  const { hash, verify } = createPasswordHasher();
  let raw: { [key: string]: unknown } = { admin_password: 'first', other: 1 };
  let changed = (): void => undefined;
  const lines: string[] = [];
  const config: PasswordConfig = {
    raw: () => raw,
    update: async (change) => {
      raw = { ...raw, ...change(raw) };
    },
    subscribe: (listener) => {
      changed = listener;
      return () => undefined;
    },
  };
  const write = (_fields: object, message: string) => void lines.push(message);
  const log = { info: write, warn: write };
  const keeper = keepPasswordHashed({ config, hasher: { hash }, log });
  await keeper.close();
  const first = String(raw.admin_password);
  expect([await verify(first, 'first'), raw.other]).toEqual([true, 1]);
  raw = { admin_password: 'second' };
  changed();
  await keeper.close();
  expect(await verify(String(raw.admin_password), 'second')).toBe(true);
  raw = { admin_password: '$argon2id$broken' };
  changed();
  await keeper.close();
  expect(raw.admin_password).toBe('$argon2id$broken');
  expect(lines.at(-1)).toContain('damaged');
  expect(lines.join(' ')).not.toMatch(/first|second/);
});
