// A certificate authority for tests, and certificates that it signs: X.509 in DER (RFC 5280), with ECDSA on P-256.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface TestCertificate {
  /** In PEM. */
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  /** DNS names and IP addresses it is good for. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch; a day from now when absent. */
  readonly expiresAt?: number;
}

const DAY_MS = 86_400_000;

export function createTestAuthority(name = 'Isthmus Test Authority') {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const cert = certify({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signer: keys.privateKey,
    from: now - DAY_MS,
    to: now + 3650 * DAY_MS,
    extensions: [extension('551d13', true, sequence(element(0x01, Buffer.from([0xff]))))],
  });
  return {
    /** In PEM. */
    cert,
    issue({ names, expiresAt = Date.now() + DAY_MS }: CertificateOptions): TestCertificate {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = sequence(
        ...names.map((one) =>
          isIP(one) === 4
            ? element(0x87, Buffer.from(one.split('.').map(Number)))
            : element(0x82, Buffer.from(one)),
        ),
      );
      return {
        cert: certify({
          subject: names[0] ?? 'nobody',
          issuer: name,
          publicKey: own.publicKey,
          signer: keys.privateKey,
          from: Math.min(Date.now(), expiresAt) - 30 * DAY_MS,
          to: expiresAt,
          extensions: [extension('551d11', false, alternatives)],
        }),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

interface ToCertify {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly from: number;
  readonly to: number;
  readonly extensions: readonly Buffer[];
}

function certify({ subject, issuer, publicKey, signer, from, to, extensions }: ToCertify): string {
  const ecdsaWithSha256 = sequence(element(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const serial = randomBytes(8);
  serial[0] = 1;
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, serial),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(timeOf(from), timeOf(to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, signer)]);
  const whole = sequence(body, ecdsaWithSha256, element(0x03, signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [element(0x01, Buffer.from([0xff]))] : [];
  return sequence(element(0x06, Buffer.from(id, 'hex')), ...critical, element(0x04, value));
}

function nameOf(commonName: string): Buffer {
  const attribute = sequence(
    element(0x06, Buffer.from('550403', 'hex')),
    element(0x0c, Buffer.from(commonName)),
  );
  return sequence(element(0x31, attribute));
}

function timeOf(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return Number(text.slice(0, 4)) < 2050
    ? element(0x17, Buffer.from(text.slice(2)))
    : element(0x18, Buffer.from(text));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const bytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

/**
 * Has clients of this process trust the authority; the answer ends that. All threads share it: in a project of tests that
 * share a process one file alone may do so.
 */
export function trustAuthority(cert: string): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  return () => setDefaultCACertificates(before);
}
