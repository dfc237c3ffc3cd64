// When the certificates of the upstreams expire, read twice a day: those of an operator's own proxy are easily forgotten.

import { connect } from 'node:tls';
import type { Clock, Timer } from '../lib/clock.ts';
import { withoutBrackets } from '../lib/net.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';

interface UpstreamCertificate {
  readonly upstream: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface CertificateOptions {
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly current: () => { readonly upstreams: readonly { readonly id: string }[] };
  /** The address of an upstream, its profile's own where the settings name none. */
  readonly baseUrlOf: (id: string) => string | undefined;
  /** What goes through a proxy is not looked at. */
  readonly proxyFor: ProxyChoice;
}

const FIRST_MS = 60_000;
const BETWEEN_MS = 12 * 3_600_000;
const CONNECT_MS = 10_000;

/** Until `close`. */
export function watchUpstreamCertificates(options: CertificateOptions) {
  const { clock, current, baseUrlOf, proxyFor } = options;
  let found: readonly UpstreamCertificate[] = [];
  let timer: Timer;
  const look = async (): Promise<void> => {
    const ends = current().upstreams.map(async ({ id }) => {
      const url = URL.parse(baseUrlOf(id) ?? '');
      if (url?.protocol !== 'https:' || proxyFor(url) !== undefined) return [];
      const expiresAt = await readEnd(url);
      return expiresAt === undefined ? [] : [{ upstream: id, expiresAt }];
    });
    found = (await Promise.all(ends)).flat();
  };
  const schedule = (delayMs: number): void => {
    timer = clock.startTimer(delayMs, () => {
      void look();
      schedule(BETWEEN_MS);
    });
  };
  schedule(FIRST_MS);
  return {
    /** As of the last look; of those that could be reached. */
    found: () => found,
    look,
    close: (): void => timer.cancel(),
  };
}

/** Undefined where nothing answers: requests tell of that. Nothing is sent, so a certificate that is over is read too. */
function readEnd({ hostname, port }: URL): Promise<number | undefined> {
  const host = withoutBrackets(hostname);
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host, port: Number(port || 443), rejectUnauthorized: false, timeout: CONNECT_MS },
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    });
    const end = (expiresAt?: number): void => {
      socket.destroy();
      resolve(expiresAt);
    };
    socket.once('secureConnect', () => {
      const at = Date.parse(socket.getPeerCertificate().valid_to);
      end(Number.isNaN(at) ? undefined : at);
    });
    socket.once('timeout', () => end());
    socket.once('error', () => end());
  });
}
