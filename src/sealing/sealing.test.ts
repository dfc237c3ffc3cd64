import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { makePrivate, writePrivateFile } from '../lib/private-file.ts';
import { createVault, openWithPassphrase, sealWithPassphrase } from './seal.ts';
import { createSecretKey, loadSecretKey, type SecretKey } from './secret-key.ts';

const TEXT = 'a secret key of thirty-two chars';

let dataDir: string;
beforeEach(() => {
  dataDir = makeTestFolder('sealing');
});

const keyPath = (): string => join(dataDir, 'secret.key');
const load = (): SecretKey => loadSecretKey({ dataDir });

describe('secret key', () => {
  test('a new data folder gets a key file of its own, private, and keeps it', () => {
    const key = load();
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
    expect(readFileSync(keyPath(), 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(load().id).toBe(key.id);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  test('the environment wins over the file, and the text of the file does as its value', () => {
    const fromFile = load();
    const moved = readFileSync(keyPath(), 'utf8').trim();
    expect(loadSecretKey({ dataDir, environmentKey: moved }).id).toBe(fromFile.id);
    expect(loadSecretKey({ dataDir, environmentKey: TEXT }).id).not.toBe(fromFile.id);
  });

  test.each(['isthmus.db', 'isthmus.db-wal'])(
    'with %s but no key the start is refused and no key is made',
    (name) => {
      writeFileSync(join(dataDir, name), 'sealed');
      expect(load).toThrow(/secret\.key is missing.*ISTHMUS_SECRET_KEY/);
      expect(readdirSync(dataDir)).toEqual([name]);
      expect(loadSecretKey({ dataDir, environmentKey: TEXT }).origin).toBe('ISTHMUS_SECRET_KEY');
    },
  );

  test('a key file others can read is made private, and that is told', () => {
    const { id } = load();
    chmodSync(keyPath(), 0o644);
    const warnings: string[] = [];
    const log = { warn: (_: object, message: string) => void warnings.push(message) };
    expect(loadSecretKey({ dataDir, log }).id).toBe(id);
    expect(statSync(keyPath()).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual(['The secret key could be read by others; now only its owner can.']);
  });

  test('a file whose mode cannot be changed is known as exposed', () => {
    load();
    chmodSync(keyPath(), 0o640);
    const refuse = (): never => {
      throw new Error('EPERM');
    };
    expect(makePrivate(keyPath(), refuse)).toBe('exposed');
    expect(makePrivate(keyPath(), () => undefined)).toBe('exposed');
    expect(makePrivate(keyPath())).toBe('repaired');
  });

  test('what is no key is refused with the way out, and left as it is', () => {
    writeFileSync(keyPath(), 'short\n', { mode: 0o600 });
    expect(load).toThrow(/secret\.key holds 5 characters.*at least 16/);
    expect(readFileSync(keyPath(), 'utf8')).toBe('short\n');
    writeFileSync(keyPath(), '');
    expect(load).toThrow(/holds 0 characters/);
    writeFileSync(keyPath(), 'x'.repeat(5000));
    expect(load).toThrow(/is not a key file/);
    rmSync(keyPath());
    mkdirSync(keyPath());
    expect(load).toThrow(/secret\.key.*is not a key file/);
    expect(() => loadSecretKey({ dataDir, environmentKey: 'short' })).toThrow(
      /ISTHMUS_SECRET_KEY holds 5/,
    );
  });

  test('a key that another process made first is the one', () => {
    expect(writePrivateFile(keyPath(), TEXT)).toBe('placed');
    expect(writePrivateFile(keyPath(), 'another key of enough letters')).toBe('already-there');
    expect(readFileSync(keyPath(), 'utf8')).toBe(TEXT);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
  });

  test.each(['ENOSPC', 'EDQUOT'])(
    'D5: on a disk without room (%s) a first start has a key in memory, and leaves nothing',
    (code) => {
      const fill = (): never => {
        throw Object.assign(new Error(`${code}: write`), { code });
      };
      const write = (path: string, text: string) => writePrivateFile(path, text, fill);
      const warn = vi.fn();
      const key = loadSecretKey({ dataDir, write, log: { warn } });
      expect(key.isLasting).toBe(false);
      expect(key.id).not.toBe(loadSecretKey({ dataDir, write }).id);
      expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining('lost')]]);
      expect(readdirSync(dataDir)).toEqual([]);
      expect(load()).toMatchObject({ origin: keyPath(), isLasting: true });
    },
  );

  test('printing a key or a vault shows nothing of it', () => {
    const key = createSecretKey(TEXT, 'here');
    const printed = inspect([key, createVault(key)], { depth: 9, showHidden: true });
    expect(printed).not.toContain(TEXT);
    expect(JSON.parse(JSON.stringify(key))).toEqual({
      id: key.id,
      origin: 'here',
      isLasting: true,
    });
  });
});

describe('vault', () => {
  const vault = createVault(createSecretKey(TEXT, 'here'));

  test('what is sealed opens in its own place only, and no two sealed texts are alike', () => {
    const sealed = vault.seal('söme\0 secret', 'a/1');
    expect(sealed).toMatch(/^sealed:v1:[0-9a-f]{12}:[\w-]+$/);
    expect(vault.open(sealed, 'a/1')).toBe('söme\0 secret');
    expect(() => vault.open(sealed, 'a/2')).toThrow(/changed, cut or moved/);
    expect(vault.seal('söme\0 secret', 'a/1')).not.toBe(sealed);
    expect(vault.open(vault.seal('', 'a'), 'a')).toBe('');
  });

  test('a change of any character is noticed', () => {
    const sealed = vault.seal('secret', 'a');
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'Q' : 'A';
      expect(() => vault.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'a')).toThrow();
      expect(() => vault.open(sealed.slice(0, at), 'a')).toThrow();
    }
  });

  test('another key is told by its id, and other text as such', () => {
    const other = createVault(createSecretKey(`${TEXT}!`, 'there'));
    const fault = (sealed: string): unknown => {
      try {
        return vault.open(sealed, 'a');
      } catch (error) {
        return error;
      }
    };
    expect(fault(other.seal('s', 'a'))).toMatchObject({ fault: 'foreign-key' });
    expect(fault('sealed:v2:000000000000:AAAA')).toMatchObject({ fault: 'malformed' });
    expect(fault('plain')).toMatchObject({ fault: 'malformed' });
    expect(fault(`sealed:v1:${vault.keyId}:AAAA`)).toMatchObject({ fault: 'damaged' });
  });
});

describe('passphrase', () => {
  const PASSPHRASE = 'correct horse battery';

  test('an export opens with its passphrase only', async () => {
    const sealed = await sealWithPassphrase('{"accounts":[]}', PASSPHRASE);
    expect(sealed).not.toContain('accounts');
    expect(await openWithPassphrase(`${sealed}\n`, PASSPHRASE)).toBe('{"accounts":[]}');
    const wrong = { fault: 'damaged' };
    await expect(openWithPassphrase(sealed, `${PASSPHRASE}!`)).rejects.toMatchObject(wrong);
    const cheaper = sealed.replace(':15,8,3:', ':14,8,1:');
    await expect(openWithPassphrase(cheaper, PASSPHRASE)).rejects.toMatchObject(wrong);
  });

  test('short passphrases, costs beyond bounds and other texts are refused', async () => {
    await expect(sealWithPassphrase('x', 'eleven char')).rejects.toThrow(/12 to 1024 characters/);
    const salt = 'A'.repeat(22);
    for (const cost of ['30,8,1', '15,99,1', '15,8,99', '1,8,1', '0,0,0']) {
      const sealed = `sealed-export:v1:${cost}:${salt}:AAAA`;
      await expect(openWithPassphrase(sealed, PASSPHRASE)).rejects.toMatchObject({
        fault: 'malformed',
      });
    }
    await expect(openWithPassphrase('{}', PASSPHRASE)).rejects.toThrow(/not a sealed export/);
  });
});
