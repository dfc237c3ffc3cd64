import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestAuthority, type TestCertificate } from '../../test/support/certificates.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { ListenerCertificate } from './certificate.ts';

const authority = createTestAuthority();
let folder: string;
let given: unknown[];
let logged: string[];
const files = () => ({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-certificate-'));
  given = [];
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** As a renewal does it: written beside, and put in place. */
function place(name: 'cert' | 'key', text: string): void {
  const path = files()[name];
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function placeBoth({ cert, key }: TestCertificate): void {
  place('cert', cert);
  place('key', key);
}

function open() {
  const clock = createFakeClock();
  const note = (_fields: object, message: string): void => void logged.push(message);
  const certificate = new ListenerCertificate(files(), {
    ...{ files, clock, log: { info: note, warn: note } },
  });
  certificate.follow({ setSecureContext: (options) => void given.push(options.cert) });
  return { certificate, clock };
}

test('new files are given to the server, and the names and the end of the certificate are told', async () => {
  const expiresAt = Date.parse('2031-05-06T07:08:09Z');
  placeBoth(authority.issue({ names: ['models.lan', '192.0.2.7'], expiresAt }));
  const { certificate, clock } = open();
  expect(certificate.state).toEqual({
    names: ['models.lan', '192.0.2.7'],
    expiresAt,
    problem: undefined,
  });
  await clock.advance(60_000);
  expect(given).toEqual([]);
  const next = authority.issue({ names: ['other.lan'] });
  placeBoth(next);
  await clock.advance(5_000);
  expect(given).toEqual([next.cert]);
  expect(certificate.state.names).toEqual(['other.lan']);
  expect(logged).toEqual(['The certificate of the listener was replaced.']);
  certificate.close();
});

test('a certificate that comes before its key waits for it, without a word', async () => {
  placeBoth(authority.issue({ names: ['a.lan'] }));
  const { certificate, clock } = open();
  const next = authority.issue({ names: ['b.lan'] });
  place('cert', next.cert);
  await clock.advance(5_000);
  expect([given, certificate.state.names, certificate.state.problem]).toEqual([
    [],
    ['a.lan'],
    undefined,
  ]);
  place('key', next.key);
  await clock.advance(5_000);
  expect(certificate.state).toMatchObject({ names: ['b.lan'], problem: undefined });
  expect(logged).toEqual(['The certificate of the listener was replaced.']);
  certificate.close();
});

test.each<[how: string, change: () => void, problem: RegExp]>([
  ['another key', () => place('key', authority.issue({ names: ['x'] }).key), /does not belong/],
  ['no certificate', () => place('cert', 'nothing'), /holds no certificate in PEM/],
  ['no file', () => rmSync(files().key), /key\.pem cannot be read/],
])('%s keeps the one before, with an alert until it is mended', async (_how, change, problem) => {
  const first = authority.issue({ names: ['a.lan'] });
  placeBoth(first);
  const { certificate, clock } = open();
  change();
  await clock.advance(30_000);
  expect(given).toEqual([]);
  expect(certificate.state.names).toEqual(['a.lan']);
  expect(certificate.state.problem?.text).toMatch(problem);
  expect(logged).toEqual([
    'The new files of the certificate cannot be used: the one before stays in use.',
  ]);
  placeBoth(first);
  await clock.advance(5_000);
  expect(certificate.state.problem).toBeUndefined();
  certificate.close();
});

test('files that cannot be used keep a gateway from starting, with the reason', () => {
  expect(open).toThrow(/cert\.pem cannot be read/);
  const { cert } = authority.issue({ names: ['a.lan'] });
  placeBoth({
    cert,
    key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n',
  });
  expect(open).toThrow(/has a passphrase/);
});
