// Accounts that come and go in bulk: refresh tokens, key files, exports.

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SpokenError } from '../../src/lib/localized-message.ts';
import { createAccountTransfer } from '../../src/oauth/imports.ts';
import { createRevoker } from '../../src/oauth/revoker.ts';
import { openWithPassphrase, sealWithPassphrase } from '../../src/sealing/seal.ts';
import { jsonReply, textReply } from '../support/fake-identity-provider.ts';
import { NEVER, openWorkshop, UPSTREAM, type Workshop } from './workshop.ts';

type PassphraseSealing = Parameters<typeof createAccountTransfer>[0]['sealing'];

const PASSPHRASE = 'correct horse battery staple';

/** As the real sealing behaves, without its cost. */
const QUICK_SEALING: PassphraseSealing = {
  async sealWithPassphrase(plain, passphrase) {
    if (passphrase.length < 12) throw new SpokenError('The passphrase must have 12 characters.');
    const body = Buffer.from(JSON.stringify({ plain, passphrase })).toString('base64url');
    return `sealed-export:${body}`;
  },
  async openWithPassphrase(sealed, given) {
    const body = Buffer.from(sealed.slice('sealed-export:'.length), 'base64url').toString();
    const { plain, passphrase } = JSON.parse(body);
    if (passphrase !== given) throw new Error('wrong');
    return plain;
  },
};

function transferOf(workshop: Workshop, sealing: PassphraseSealing = QUICK_SEALING) {
  const { book, tokens, provider, clock } = workshop;
  let serial = 0;
  const note = (): void => {};
  return createAccountTransfer({
    book,
    tokens,
    clock,
    fetch: provider.fetch,
    oauth: { get: (id) => (id === UPSTREAM ? provider.settings : undefined) },
    createId: (prefix) => {
      serial += 1;
      return `${prefix}${serial}`;
    },
    hasUpstream: (id) => id === UPSTREAM,
    sealing,
    log: { warn: note },
  });
}

async function importTokens(workshop: Workshop, text: string, signal = NEVER) {
  const request = { upstreamId: UPSTREAM, text, signal };
  return transferOf(workshop).importRefreshTokens(request);
}

async function refreshTokenOf({ book }: Workshop, label: string): Promise<string | undefined> {
  const account = book.list().find(({ record }) => record.label === label);
  const stored = account && (await book.readCredential(account.record.id));
  return stored?.credential.kind === 'oauth' ? stored.credential.refreshToken : undefined;
}

describe('refresh tokens in bulk', () => {
  test('each is proven once and kept as rotated; failures stand beside successes', async () => {
    const workshop = await openWorkshop();
    const { provider } = workshop;
    const [one, two, dead] = ['one@x.com', 'two@x.com', 'dead@x.com'].map((who) =>
      provider.grant(who),
    );
    provider.revokeFamilyOf(dead ?? '');
    const text = `# mine\n${one}\n\nteam account, ${two}\r\n${dead}\n${one}\nshort\n`;
    const results = await importTokens(workshop, text);
    expect(results).toMatchObject([
      { index: 1, label: 'one@x.com', outcome: 'added' },
      { index: 2, label: 'team account', outcome: 'added' },
      {
        index: 3,
        outcome: 'failed',
        reason: { text: expect.stringContaining('no longer accepts') },
      },
      { index: 4, outcome: 'failed', reason: 'this is the token of item 1' },
      { index: 5, outcome: 'failed', reason: 'this item holds no refresh token' },
    ]);
    expect(provider.count('/token')).toBe(3);
    for (const label of ['one@x.com', 'team account']) {
      expect(provider.isAlive((await refreshTokenOf(workshop, label)) ?? '')).toBe(true);
    }
    expect(JSON.stringify(results)).not.toContain('canary');
  });

  test('a known account is updated: by its e-mail, and by the token it has already', async () => {
    const workshop = await openWorkshop();
    const { provider } = workshop;
    await importTokens(workshop, provider.grant('one@x.com'));
    const fresh = provider.grant('ONE@x.com');
    const again = await importTokens(workshop, JSON.stringify([{ refresh_token: fresh }]));
    expect(again).toMatchObject([{ label: 'one@x.com', outcome: 'updated' }]);
    await workshop.pass(60_000);
    const held = (await refreshTokenOf(workshop, 'one@x.com')) ?? '';
    expect(await importTokens(workshop, JSON.stringify([held]))).toMatchObject([
      { outcome: 'updated', reason: 'this account had the token already' },
    ]);
    expect(workshop.book.list()).toHaveLength(1);
    expect(provider.isAlive((await refreshTokenOf(workshop, 'one@x.com')) ?? '')).toBe(true);
  });

  test('an account that was out comes back with the token it has, once that is proven', async () => {
    const workshop = await openWorkshop();
    const { book, provider } = workshop;
    await importTokens(workshop, provider.grant('one@x.com'));
    const id = book.list()[0]?.record.id ?? '';
    book.apply(id, { kind: 'failure', model: '', failure: { kind: 'forbidden' } });
    await workshop.pass(60_000);
    await importTokens(workshop, (await refreshTokenOf(workshop, 'one@x.com')) ?? '');
    expect(book.find(id)?.health.status.kind).toBe('active');
  });

  test('a proven token is kept even when nobody says whose it is', async () => {
    const workshop = await openWorkshop();
    const token = workshop.provider.grant('one@x.com');
    workshop.provider.script(
      (process) => process(),
      () => textReply(503, ''),
    );
    const [result] = await importTokens(workshop, token);
    expect(result).toMatchObject({ label: 'imported-1', outcome: 'added' });
    expect(result?.reason?.text).toContain('does not say whose account this is');
    expect(workshop.provider.isAlive((await refreshTokenOf(workshop, 'imported-1')) ?? '')).toBe(
      true,
    );
  });

  test('at most four are asked for at once, and a provider that hangs ends in time', async () => {
    const workshop = await openWorkshop();
    const { provider, clock } = workshop;
    const startedAt = clock.now();
    const askedAt: number[] = [];
    provider.always = () => {
      askedAt.push(clock.now() - startedAt);
      return new Promise(() => {});
    };
    const text = Array.from({ length: 6 }, () => provider.grant('a@x.com')).join('\n');
    const results = importTokens(workshop, text);
    await workshop.pass(10_000);
    await workshop.pass(10_000);
    expect(new Set((await results).map(({ reason }) => reason?.text))).toEqual(
      new Set(['the provider did not answer within 10 s']),
    );
    expect(askedAt).toEqual([0, 0, 0, 0, 10_000, 10_000]);
  });

  test('a list that is none is refused', async () => {
    const workshop = await openWorkshop();
    await expect(importTokens(workshop, ' \n# only words\n')).rejects.toThrow('no token');
    await expect(importTokens(workshop, '[broken')).rejects.toThrow('no JSON');
    const many = Array.from({ length: 1001 }, (_, at) => `token-number-${at}`).join('\n');
    await expect(importTokens(workshop, many)).rejects.toThrow('At most 1000');
  });
});

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY_FILE = {
  type: 'service_account',
  project_id: 'project-1',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  client_email: 'robot@project-1.test',
  token_uri: 'https://id.test/token',
};

describe('service-account key files', () => {
  const importKey = (workshop: Workshop, file: unknown) =>
    transferOf(workshop).importServiceAccounts({
      upstreamId: UPSTREAM,
      text: JSON.stringify(file),
      signal: NEVER,
    });

  test('are proven, added, and updated when they come again', async () => {
    const workshop = await openWorkshop();
    expect(await importKey(workshop, KEY_FILE)).toMatchObject([
      { label: 'robot@project-1.test', outcome: 'added' },
    ]);
    expect(await importKey(workshop, [KEY_FILE])).toMatchObject([{ outcome: 'updated' }]);
    const [account] = workshop.book.list();
    expect(account?.record).toMatchObject({ kind: 'service-account', projectId: 'project-1' });
  });

  test('give access tokens that are traded once and kept till near their end', async () => {
    const workshop = await openWorkshop();
    await importKey(workshop, KEY_FILE);
    const [account] = workshop.book.list();
    if (account === undefined) throw new Error('no account');
    const access = () => workshop.tokens.accessFor(account, { refresh: false, signal: NEVER });
    const [one, two] = await Promise.all([access(), access()]);
    expect(one).toMatchObject({ credentialKind: 'access-token', projectId: 'project-1' });
    expect(two.credential).toBe(one.credential);
    expect(workshop.provider.count('/token')).toBe(2);
    await workshop.pass(3_550_000);
    expect((await access()).credential).not.toBe(one.credential);
  });

  test('sign by the time of the provider when this machine has another', async () => {
    const workshop = await openWorkshop();
    const { provider, clock } = workshop;
    await importKey(workshop, KEY_FILE);
    const [account] = workshop.book.list();
    if (account === undefined) throw new Error('no account');
    const ahead = 24 * 3_600_000;
    let isFirst = true;
    const asked = Promise.withResolvers<void>();
    provider.always = (_process, { body }) => {
      asked.resolve();
      const claims = (new URLSearchParams(body).get('assertion') ?? '').split('.')[1] ?? '';
      const { iat } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      const isInTime = Math.abs(iat * 1000 - clock.now() - ahead) < 300_000;
      expect(isInTime).toBe(!isFirst);
      isFirst = false;
      const date = new Date(clock.now() + ahead).toUTCString();
      return isInTime
        ? jsonReply(200, { access_token: 'in-time', expires_in: 3600 }, { date })
        : jsonReply(400, { error: 'invalid_grant' }, { date });
    };
    const access = workshop.tokens.accessFor(account, { refresh: false, signal: NEVER });
    await asked.promise;
    await workshop.pass(5000);
    expect((await access).credential).toBe('in-time');
  });

  test.each([
    [{ ...KEY_FILE, type: 'authorized_user' }, '"type"'],
    [{ ...KEY_FILE, client_email: undefined }, 'client_email'],
    [{ ...KEY_FILE, private_key: 'canary' }, 'PKCS #8'],
    [{ ...KEY_FILE, token_uri: 'http://evil.test/' }, 'https'],
    [42, 'must be an object'],
  ])('that are none name the field (%#)', async (file, words) => {
    const workshop = await openWorkshop();
    const [result] = await importKey(workshop, file);
    expect(result?.outcome).toBe('failed');
    expect(result?.reason?.text).toContain(words);
    expect(result?.reason?.text).not.toContain('canary');
    expect(workshop.provider.calls).toEqual([]);
  });
});

describe('export and import', () => {
  async function filled(): Promise<Workshop> {
    const workshop = await openWorkshop();
    const refreshToken = workshop.provider.grant('one@x.com');
    await workshop.add('one@x.com', { kind: 'oauth', refreshToken });
    await workshop.book.add({
      upstreamId: UPSTREAM,
      label: 'key',
      tier: 'pro',
      priority: 3,
      notes: 'paid by me',
      proxyUrl: 'http://u:p@127.0.0.1:3128',
      credential: { kind: 'api-key', key: 'canary-key' },
    });
    return workshop;
  }

  test('carry every account to another place, sealed on the way', async () => {
    const { sealed, count } = await transferOf(await filled()).exportAccounts({
      passphrase: PASSPHRASE,
    });
    expect(count).toBe(2);
    expect(sealed).not.toContain('canary');
    const other = await openWorkshop();
    const transfer = transferOf(other);
    const results = await transfer.importAccounts({ text: `${sealed}\n`, passphrase: PASSPHRASE });
    expect(results.map(({ outcome }) => outcome)).toEqual(['added', 'added']);
    const [, key] = other.book.list();
    expect(key?.record).toMatchObject({ label: 'key', tier: 'pro', priority: 3 });
    expect(other.book.proxyUrl(key?.record.id ?? '')).toBe('http://u:p@127.0.0.1:3128');
    const again = await transfer.importAccounts({ text: sealed, passphrase: PASSPHRASE });
    expect(again.map(({ outcome }) => outcome)).toEqual(['updated', 'updated']);
    await expect(transfer.importAccounts({ text: sealed })).rejects.toThrow('give its passphrase');
    const wrong = transfer.importAccounts({ text: sealed, passphrase: 'not the right one' });
    await expect(wrong).rejects.toThrow('does not open');
  });

  test('are sealed for real', async () => {
    const transfer = transferOf(await filled(), { sealWithPassphrase, openWithPassphrase });
    const { sealed: text } = await transfer.exportAccounts({ passphrase: PASSPHRASE });
    expect(await transfer.importAccounts({ text, passphrase: PASSPHRASE })).toHaveLength(2);
  });

  test('a short passphrase is refused', async () => {
    const transfer = transferOf(await openWorkshop());
    await expect(transfer.exportAccounts({ passphrase: 'short' })).rejects.toThrow('12');
  });

  test('an old export does not put back a token that was rotated since', async () => {
    const workshop = await filled();
    const transfer = transferOf(workshop);
    const { sealed } = await transfer.exportAccounts({ passphrase: PASSPHRASE });
    const [account] = workshop.book.list();
    if (account === undefined) throw new Error('no account');
    await workshop.tokens.accessFor(account, { refresh: false, signal: NEVER });
    const [result] = await transfer.importAccounts({ text: sealed, passphrase: PASSPHRASE });
    expect(result?.reason?.text).toContain('newer and was kept');
    const token = await refreshTokenOf(workshop, 'one@x.com');
    expect(workshop.provider.isAlive(token ?? '')).toBe(true);
  });

  test('an export of another place replaces the credential of the same label', async () => {
    const here = await filled();
    const [account] = here.book.list();
    if (account === undefined) throw new Error('no account');
    // Rotated here since: its version is higher than the one in the export.
    await here.tokens.accessFor(account, { refresh: false, signal: NEVER });
    const there = transferOf(await filled());
    const { sealed } = await there.exportAccounts({ passphrase: PASSPHRASE });
    const file = JSON.parse(await QUICK_SEALING.openWithPassphrase(sealed, PASSPHRASE));
    for (const one of file.accounts) one.id = `of-there-${one.id}`;
    const results = await transferOf(here).importAccounts({ text: JSON.stringify(file) });
    expect(results.map(({ reason }) => reason)).toEqual(results.map(() => undefined));
  });

  test('plain files are read item by item', async () => {
    const workshop = await openWorkshop();
    const credential = { key: 'canary' };
    const good = { upstream: UPSTREAM, label: 'a', kind: 'api-key', credential };
    const accounts = [
      good,
      { ...good, upstream: 'other' },
      { ...good, label: 'b', kind: '__proto__' },
      { ...good, label: 'c', credential: {} },
      { ...good, label: 'd', tier: 'gold' },
      'canary',
    ];
    const text = JSON.stringify({ format: 'isthmus-accounts', version: 1, accounts });
    const results = await transferOf(workshop).importAccounts({ text });
    expect(results.map(({ outcome }) => outcome)).toEqual(['added', ...Array(5).fill('failed')]);
    expect(JSON.stringify(results)).not.toContain('canary');
    for (const bad of ['{}', '[]', '{"format":"isthmus-accounts","version":2}', 'nonsense']) {
      await expect(transferOf(workshop).importAccounts({ text: bad })).rejects.toThrow();
    }
  });
});

describe('removal', () => {
  const remove = (workshop: Workshop, id: string) =>
    createRevoker({
      book: workshop.book,
      oauth: { get: () => workshop.provider.settings },
      fetch: workshop.provider.fetch,
      clock: workshop.clock,
      log: { warn: () => {} },
    }).removeAndRevoke(id);

  test('takes the grant back at the provider, and says so', async () => {
    const workshop = await openWorkshop();
    const refreshToken = workshop.provider.grant('one@x.com');
    const { record } = await workshop.add('one@x.com', { kind: 'oauth', refreshToken });
    expect(await remove(workshop, record.id)).toEqual({ kind: 'revoked' });
    expect(workshop.provider.isAlive(refreshToken)).toBe(false);
    expect(workshop.book.list()).toEqual([]);
  });

  test('goes on when the provider fails or has no such address', async () => {
    const workshop = await openWorkshop();
    const refreshToken = workshop.provider.grant('one@x.com');
    const { record } = await workshop.add('one@x.com', { kind: 'oauth', refreshToken });
    workshop.provider.always = () => textReply(500, '');
    expect(await remove(workshop, record.id)).toMatchObject({ kind: 'failed' });
    const key = await workshop.add('key', { kind: 'api-key', key: 'k' });
    expect(await remove(workshop, key.record.id)).toMatchObject({ kind: 'not-possible' });
    expect(workshop.book.list()).toEqual([]);
  });

  test('a grant the provider knows no more is as good as taken back', async () => {
    const workshop = await openWorkshop();
    const refreshToken = workshop.provider.grant('one@x.com');
    const { record } = await workshop.add('one@x.com', { kind: 'oauth', refreshToken });
    workshop.provider.always = () => jsonReply(400, { error: 'invalid_token' });
    expect(await remove(workshop, record.id)).toEqual({ kind: 'revoked' });
  });
});
