// The certificate of the HTTPS listener: read from its files, and read again when they change.

import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock, Timer } from '../lib/clock.ts';
import { type Sentence, SpokenError, told } from '../lib/localized-message.ts';
import type { Log } from './settings.ts';

interface CertificateFiles {
  /** PEM: the certificate of this gateway first, then those between it and its authority. */
  readonly cert: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** What people are shown of the certificate in use. */
export interface CertificateState {
  /** Hosts and addresses it is good for. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Why newer files are not in use; undefined while there is nothing newer. */
  readonly problem: Sentence | undefined;
}

interface CertificateOptions {
  /** Asked anew each time: the settings may name others. Undefined once they name none. */
  readonly files: () => CertificateFiles | undefined;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** As much of an HTTPS server as is needed here. */
interface SecureServer {
  setSecureContext(options: SecureContextOptions): void;
}

/** Files are swapped as links, by copies and on volumes that tell nobody: they are looked at. */
const LOOK_MS = 5_000;

interface Loaded {
  readonly options: Pick<SecureContextOptions, 'cert' | 'key'>;
  readonly certificate: X509Certificate;
}

export class ListenerCertificate {
  readonly #options: CertificateOptions;
  #inUse: Loaded;
  /** What the files were when they were read last. */
  #seen: string;
  #problem: Sentence | undefined;
  /** A certificate is often in its place a moment before its key is. */
  #failures = 0;
  #timer: Timer | undefined;

  /** @throws SpokenError with the way out when the files cannot be used */
  constructor(files: CertificateFiles, options: CertificateOptions) {
    this.#options = options;
    this.#seen = signatureOf(files);
    this.#inUse = load(files);
  }

  get serverOptions(): Pick<SecureContextOptions, 'cert' | 'key'> {
    return this.#inUse.options;
  }

  get state(): CertificateState {
    const { subjectAltName = '', validToDate } = this.#inUse.certificate;
    const names = subjectAltName.split(', ').flatMap((name) => {
      const [, text] = /^(?:DNS|IP Address):(.+)$/.exec(name) ?? [];
      return text ?? [];
    });
    return { names, expiresAt: validToDate.getTime(), problem: this.#problem };
  }

  /** From now on new connections get the newest certificate that can be used; those that are open go on. */
  follow(server: SecureServer): void {
    this.#timer = this.#options.clock.startTimer(LOOK_MS, () => {
      this.#look(server);
      this.follow(server);
    });
  }

  close(): void {
    this.#timer?.cancel();
  }

  #look(server: SecureServer): void {
    const { log } = this.#options;
    const files = this.#options.files();
    if (files === undefined) return;
    try {
      const seen = signatureOf(files);
      if (seen === this.#seen) return;
      const next = load(files);
      server.setSecureContext(next.options);
      this.#inUse = next;
      this.#seen = seen;
      this.#failures = 0;
      this.#problem = undefined;
      const { expiresAt } = this.state;
      log.info({ cert: files.cert, expiresAt }, 'The certificate of the listener was replaced.');
    } catch (error) {
      this.#failures += 1;
      if (this.#failures !== 2) return;
      this.#problem = error instanceof SpokenError ? error.sentence : told`they cannot be read`;
      log.warn(
        { cert: files.cert, problem: this.#problem.text },
        'The new files of the certificate cannot be used: the one before stays in use.',
      );
    }
  }
}

/** What tells one state of the files from another. @throws Error when one is not there */
function signatureOf({ cert, key }: CertificateFiles): string {
  return [cert, key]
    .map((path) => {
      const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return `${path} ${ino} ${size} ${mtimeMs}`;
    })
    .join('\n');
}

function load({ cert: certPath, key: keyPath }: CertificateFiles): Loaded {
  const cert = readPem(certPath);
  const key = readPem(keyPath);
  if (/ENCRYPTED/.test(key)) {
    throw new SpokenError(told`the key ${keyPath} has a passphrase: store it without one`);
  }
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch (error) {
    throw new SpokenError(told`${certPath} holds no certificate in PEM`, error);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SpokenError(
      told`the key ${keyPath} does not belong to the certificate ${certPath}, or is none in PEM`,
      error,
    );
  }
  return { options: { cert, key }, certificate };
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SpokenError(told`${path} cannot be read`, error);
  }
}
