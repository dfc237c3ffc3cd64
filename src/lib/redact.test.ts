import { expect, test } from 'vitest';
import { threadMs } from '../../test/security/measure.ts';
import { createPieceRedactor, createRedactor } from './redact.ts';

const redactor = createRedactor(['canary-secret-0123456789']);
const MOST = 262_144;

test('a known secret leaves in every spelling, whole or only its beginning', () => {
  const secret = 'canary/secret+0123456789==';
  const { text } = createRedactor([secret]);
  const bytes = Buffer.from(secret);
  for (const spelling of [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    secret.slice(0, 12),
  ]) {
    expect(text(`before ${spelling} after`)).toBe('before [redacted] after');
  }
});

test('a known secret leaves a text that comes in pieces, wherever these cut it, and nothing else does', () => {
  const secret = 'canary/secret+0123456789==';
  const bytes = Buffer.from(secret);
  const spellings = [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('hex'),
  ];
  const spoken = [...spellings, secret.replace('/', '\\/')]
    .map((one) => `"${one}" canary \\`)
    .join('');
  const text = `${spoken} ${secret} cana`;
  const clean = createRedactor([secret]).text(text);
  const inPieces = (pieces: readonly string[]): string => {
    const redactor = createPieceRedactor([secret]);
    return pieces.map((piece) => redactor.next(piece)).join('') + redactor.end();
  };
  expect(inPieces([text])).toBe(clean);
  expect(inPieces([...text])).toBe(clean);
  for (let at = 1; at < text.length; at += 1)
    expect(inPieces([text.slice(0, at), text.slice(at)])).toBe(clean);
});

test('of a text that comes in pieces only what a secret may begin with waits for the next one', () => {
  const redactor = createPieceRedactor(['canary-secret-0123456789']);
  expect(redactor.next('data: {"text":"a can')).toBe('data: {"text":"a ');
  expect(redactor.next('not"}\n\n')).toBe('cannot"}\n\n');
  expect(redactor.next('data: canary-secret')).toBe('data: [redacted]');
  expect(redactor.next('-0123456789\n\n')).toBe('\n\n');
});

test('what looks like a credential leaves wherever it stands', () => {
  for (const secret of [
    'sk-abcdefghijklmnop1234',
    'AIzaSyA0123456789012345678901234567890',
    'ya29.a0AfH6SMBxyz',
    '1//0gabcdefghijklmnopqrstu',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl',
    'Bearer abcdefgh12345678',
    'BEARER abcdefgh12345678',
    'basic abcdefgh12345678',
    'https://user:canary-password@proxy.example:3128',
    '-----BEGIN PRIVATE KEY-----\nMIIEvcanary\n-----END PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEvcanary',
    'http://x.example/v1?key=canarycanary&alt=sse',
    'a?b=c&API_KEY=canarycanary',
    'HTTPS://user:canary-password@proxy.example:3128',
    'isthmus_session=canarycanary',
    '__Host-isthmus_session_0a1b2c3d=canarycanary',
  ]) {
    const clean = redactor.text(`a ${secret} z`);
    expect(clean).toContain('[redacted]');
    expect(clean).not.toMatch(/canary|abcdefgh|AfH6|MIIE|SyA0|c2ln/);
  }
  expect(redactor.text('Plain words, e.g. sk-ip and a?b=c.')).toBe(
    'Plain words, e.g. sk-ip and a?b=c.',
  );
});

test('JSON that holds parts of credentials stays JSON, whatever is escaped in it', () => {
  const { text } = createRedactor(['the-secret-of-all']);
  const halves = [
    '?key=',
    'isthmus_session=',
    '-----BEGIN PRIVATE KEY-----',
    'https://u:',
    'Bearer ',
  ];
  const ends = ['"', '\\', '\\"', '\\\\"', '\n"', 'abc"def', 'abc\\', '', '\u0000"', '@"', "'"];
  for (const half of [...halves, 'the-secret-of-all']) {
    for (const end of ends) {
      const [value, other] = [`x ${half}${end}`, `y${half}12345678${end}z`];
      const clean = text(JSON.stringify({ value, list: [other, value], last: 1 }));
      expect([half, end, Object.keys(JSON.parse(clean))]).toEqual([
        half,
        end,
        ['value', 'list', 'last'],
      ]);
    }
  }
});

test('a credential that reaches over the end of what is kept leaves whole', () => {
  const credentials = [
    'canary-secret-0123456789',
    'sk-canary0123456789',
    'https://user:canary-password@proxy.example',
    `eyJcanary-canary.${'x'.repeat(3_000)}.canary`,
  ];
  for (const credential of credentials) {
    for (let kept = 0; kept <= credential.length && kept < 40; kept += 1) {
      const text = `${' '.repeat(500)}${credential}`;
      const most = 500 + kept;
      expect(redactor.beginning(text, most)).not.toMatch(/sk-|can|use|eyJ/);
      const { text: json } = redactor.json([text], most);
      expect(json).not.toMatch(/sk-|can|use|eyJ/);
    }
  }
});

test('fields that are credentials by name are hidden, whatever they hold', () => {
  const { text, isWhole } = redactor.json(
    { api_key: 'plain', nested: [{ Authorization: 'x', refreshToken: 'y' }], token: 'kept' },
    MOST,
  );
  expect(JSON.parse(text)).toEqual({
    api_key: '[redacted]',
    nested: [{ Authorization: '[redacted]', refreshToken: '[redacted]' }],
    token: 'kept',
  });
  expect(isWhole).toBe(false);
});

test('what clients give to other services in a request is hidden, in the fields of their protocols', () => {
  const servers = [{ url: 'https://mcp.example/sse', authorization_token: 'canary' }];
  const tools = [{ type: 'mcp', headers: { 'X-Goog-Api-Key': 'canary', 'x-tool': 'search' } }];
  const { text } = redactor.json({ mcp_servers: servers, tools }, MOST);
  expect(text).not.toContain('canary');
  expect(text).toContain('https://mcp.example/sse');
  expect(text).toContain('search');
});

test('media are told by their size; what is short and clean stays as it was', () => {
  const base64 = 'QUJD'.repeat(1000);
  const url = `data:image/png;base64,${base64}`;
  const { text } = redactor.json({ data: base64, url, text: `See ${url}!` }, MOST);
  expect(JSON.parse(text)).toEqual({
    data: '[base64 of 4000 characters]',
    url: 'data:image/png;base64,[4000 characters]',
    text: 'See data:image/png;base64,[4000 characters]!',
  });
  const plain = { a: [1, 'x', null, true], ['__proto__']: { b: '' } };
  expect(redactor.json(plain, MOST)).toEqual({ text: JSON.stringify(plain), isWhole: true });
});

test('no body is longer than its limit, whatever it is made of', () => {
  const bodies = [
    { text: 'x'.repeat(10_000) },
    { quotes: '"'.repeat(10_000) },
    { many: Array.from({ length: 10_000 }, (_, index) => index) },
    Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index])),
  ];
  for (const body of bodies) {
    const { text, isWhole } = redactor.json(body, 1000);
    expect(text.length).toBeLessThanOrEqual(1001);
    expect(isWhole).toBe(false);
  }
});

test('hostile texts take no longer than others', () => {
  const spentMs = threadMs(() => {
    for (const piece of [
      'eyJ-',
      'sk-',
      'Bearer  ',
      'a://',
      '-----BEGIN PRIVATE KEY-----',
      '?key=',
    ]) {
      redactor.text(piece.repeat(200_000 / piece.length));
    }
  });
  expect(spentMs).toBeLessThan(1500);
});
