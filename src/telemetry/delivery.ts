// Keeps the books of what reaches the collector: spans that were dropped, and one log line an outage.

type Signal = 'traces' | 'metrics';

export interface Delivery {
  /** Spans that never reached the collector. */
  readonly droppedSpans: number;
  delivered(signal: Signal): void;
  /** An export failed, and these spans are lost with it. */
  failed(signal: Signal, spans: number, error: unknown): void;
  /** These spans were never given to an export. */
  dropped(spans: number, reason: string): void;
}

export interface DeliveryOptions {
  /** Without what may be a secret in it. */
  readonly collector: string;
  readonly log: { warn(fields: object, message: string): void };
}

const MOST_REASON = 200;

export function createDelivery({ collector, log }: DeliveryOptions): Delivery {
  let droppedSpans = 0;
  /** What is wrong at present, and why. */
  const troubles = new Map<Signal | 'queue', string>();
  const warn = (reason: string): void =>
    log.warn(
      { collector, reason },
      'Traces or metrics cannot be delivered; traces are dropped until the collector takes them.',
    );
  return {
    get droppedSpans() {
      return droppedSpans;
    },
    delivered(signal) {
      troubles.delete(signal);
    },
    failed(signal, spans, error) {
      droppedSpans += spans;
      if (troubles.has(signal)) return;
      const reason = reasonOf(error);
      // A collector that is gone takes neither, and is told of once.
      const isKnown = [...troubles.values()].includes(reason);
      troubles.set(signal, reason);
      if (!isKnown) warn(reason);
    },
    dropped(spans, reason) {
      droppedSpans += spans;
      if (troubles.size > 0) return;
      troubles.set('queue', reason);
      warn(reason);
    },
  };
}

/** Addresses that are tried together fail with one error that has a code and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? String(error.code) : 'unknown';
  return (error.message || code).slice(0, MOST_REASON);
}
