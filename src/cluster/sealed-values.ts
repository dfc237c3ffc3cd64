// Small secrets with a lifetime that any process may need once, such as the state of a sign-in: sealed on their way.

import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { type Cluster, ClusterUnavailable } from './cluster.ts';

interface SealedValuesOptions {
  readonly values: Cluster['values'];
  /** The same in every process. */
  readonly sealer: {
    seal(plain: string, context: string): string;
    /** @throws Error for what was sealed with another key */
    open(sealed: string, context: string): string;
  };
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Tells values of one kind from all others. */
  readonly purpose: string;
}

interface OwnValue<Value> {
  /** By the monotonic clock: a time of day that is set back keeps nothing alive. */
  readonly endsAt: number;
  /** Where the others could not be reached: it is found in this process alone. */
  readonly kept: Value | undefined;
}

/** @typeParam Value of JSON types alone */
export class SealedValues<Value> {
  readonly #options: SealedValuesOptions;
  /** What this process put, until it is over or taken. */
  readonly #own = new Map<string, OwnValue<Value>>();

  constructor(options: SealedValuesOptions) {
    this.#options = options;
  }

  async put(key: string, value: Value, lifetimeMs: number): Promise<void> {
    const { values, sealer, clock } = this.#options;
    const place = this.#placeOf(key);
    const endsAt = clock.monotonic() + lifetimeMs;
    this.#dropExpired();
    let kept: Value | undefined;
    try {
      await values.put(place, sealer.seal(JSON.stringify(value), place), lifetimeMs);
    } catch (error) {
      if (!(error instanceof ClusterUnavailable)) throw error;
      kept = value;
    }
    this.#own.set(place, { endsAt, kept });
  }

  /** Undefined also where it cannot be asked for now. */
  get(key: string): Promise<Value | undefined> {
    return this.#find(key, 'get');
  }

  /** As `get`, to one asker alone of all processes; it is gone then. */
  take(key: string): Promise<Value | undefined> {
    return this.#find(key, 'take');
  }

  async #find(key: string, how: 'get' | 'take'): Promise<Value | undefined> {
    const { values, sealer } = this.#options;
    const place = this.#placeOf(key);
    const own = this.#own.get(place);
    if (how === 'take') this.#own.delete(place);
    const isOver = own !== undefined && own.endsAt <= this.#options.clock.monotonic();
    if (own?.kept !== undefined) return isOver ? undefined : own.kept;
    let sealed: string | undefined;
    try {
      sealed = await values[how](place);
    } catch (error) {
      if (error instanceof ClusterUnavailable) return undefined;
      throw error;
    }
    if (sealed === undefined || isOver) return undefined;
    let json: string;
    try {
      json = sealer.open(sealed, place);
    } catch {
      // Of a gateway with another key, which shares the server and nothing else.
      return undefined;
    }
    // The one narrowing: nobody else could seal it than `put` of this purpose.
    return JSON.parse(json) as Value;
  }

  /** What stands for the key elsewhere does not give it away. */
  #placeOf(key: string): string {
    return `${this.#options.purpose} ${createHash('sha256').update(key).digest('base64url')}`;
  }

  #dropExpired(): void {
    const now = this.#options.clock.monotonic();
    for (const [place, { endsAt }] of this.#own) if (endsAt <= now) this.#own.delete(place);
  }
}
