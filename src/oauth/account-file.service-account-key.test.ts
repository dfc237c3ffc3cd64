import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, exportJWK, importSPKI, jwtVerify, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { readClaims, signAssertion } from './account-file.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const FACTS = {
  tokenUrl: 'https://tokens.example/ü',
  scopes: ['a ü 😀'],
  issuedAt: 1_700_000_000_000,
};
const ROBOT = {
  kind: 'service-account',
  clientEmail: 'robot@project.example',
  privateKey,
} as const;

test('a library takes what is signed, finds the key by its id, and reads what was written', async () => {
  const token = await signAssertion({ ...ROBOT, privateKeyId: 'key-1' }, FACTS);
  const key = await importSPKI(publicKey, 'RS256');
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(key)), kid: 'key-1' }] });
  const currentDate = new Date(FACTS.issuedAt);
  const { payload, protectedHeader } = await jwtVerify(token, keys, { currentDate });
  expect(payload).toEqual({
    scope: 'a ü 😀',
    iss: 'robot@project.example',
    sub: 'robot@project.example',
    aud: FACTS.tokenUrl,
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  });
  expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
});

test('a key without an id names none', async () => {
  const token = await signAssertion({ ...ROBOT, privateKeyId: undefined }, FACTS);
  const currentDate = new Date(FACTS.issuedAt);
  const key = await importSPKI(publicKey, 'RS256');
  const { protectedHeader } = await jwtVerify(token, key, { currentDate });
  expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT' });
});

test('the claims of a token are read as a library wrote them', () => {
  const claims = { email: 'jürgen@example.com', aud: ['a', 'b'], exp: 4_000_000_000 };
  expect(readClaims(new UnsecuredJWT(claims).encode())).toEqual(claims);
});

test.each([
  '',
  'x',
  'a.b',
  'a.b.c',
  'a.b.c.d.e',
  `a.${Buffer.from('[]').toString('base64url')}.c`,
  `a.${Buffer.from('"text"').toString('base64url')}.c`,
  `a.${Buffer.from('{').toString('base64url')}.c`,
])('%j is no token', (text) => {
  expect(readClaims(text)).toBeUndefined();
});
