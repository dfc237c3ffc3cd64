// Counts what is left of a quota of calls while calls are under way and figures of the upstream come in any order.

/** What is known of the quota; the same object as long as nothing newer is known. */
export interface KnownCount {
  readonly calls: number;
  /** When the upstream was asked, in milliseconds since the epoch; undefined for a limit nobody has used yet. */
  readonly readAt: number | undefined;
  /** When its window ends; undefined when nobody knows. */
  readonly resetsAt: number | undefined;
}

/** A reserved call. End it once: `settle` when it was answered, `release` when it was not. */
export interface Claim {
  settle(now: number): void;
  release(): void;
}

interface OpenClaim {
  readonly startedAt: number;
  /** What was known where it was reserved; undefined where that was another figure than is known here. */
  readonly under: KnownCount | undefined;
  settledAt: number | undefined;
}

/**
 * A figure that comes while calls are under way counts some of them already, and nobody says which:
 * what is left then lies between the figure and the figure without all of them, and what was known
 * before decides where. Each call is so counted once, in whatever order figures and endings come.
 */
export class QuotaLedger {
  readonly #claims = new Set<OpenClaim>();
  #known: KnownCount | undefined;
  #room = 0;

  /** Takes what is known now. Cheap while it is what was known before. */
  learn(known: KnownCount | undefined, now: number): void {
    const before = this.#known;
    if (known === before) return;
    this.#known = known;
    const at = known?.readAt ?? now;
    this.#forgetCounted(at);
    if (known === undefined) return;
    const lowest = known.calls - this.#claims.size;
    const isSameWindow = before !== undefined && !isOver(before, at);
    this.#room = isSameWindow ? Math.max(lowest, Math.min(this.#room, this.#mostRoom())) : lowest;
  }

  /** Calls that may begin now; undefined while nobody knows. */
  get room(): number | undefined {
    return this.#known === undefined ? undefined : Math.max(0, this.#room);
  }

  /** Calls that may begin in all under what is known now, those that began already included. */
  get allowance(): number | undefined {
    if (this.#known === undefined) return undefined;
    let begun = 0;
    for (const { under } of this.#claims) if (under === this.#known) begun += 1;
    return this.#room + begun;
  }

  /** For bounds in tests: calls that are reserved or not yet counted by a figure. */
  get size(): number {
    return this.#claims.size;
  }

  /** The caller has made sure that there is room. */
  reserve(startedAt: number, isUnderKnown = true): Claim {
    const under = isUnderKnown ? this.#known : undefined;
    const claim: OpenClaim = { startedAt, under, settledAt: undefined };
    this.#claims.add(claim);
    this.#room -= 1;
    return {
      settle: (now) => {
        if (!this.#claims.has(claim) || claim.settledAt !== undefined) return;
        claim.settledAt = now;
        // Nothing is reserved of what nobody knows: the next figure tells.
        if (this.#known === undefined) this.#claims.delete(claim);
      },
      release: () => {
        if (claim.settledAt !== undefined || !this.#claims.delete(claim)) return;
        this.#room = Math.min(this.#room + 1, this.#mostRoom());
      },
    };
  }

  /** Calls that began after the upstream was asked are surely not in its figure. */
  #mostRoom(): number {
    if (this.#known === undefined) return Number.POSITIVE_INFINITY;
    const { calls, readAt = Number.NEGATIVE_INFINITY } = this.#known;
    let uncounted = 0;
    for (const { startedAt } of this.#claims) if (startedAt > readAt) uncounted += 1;
    return calls - uncounted;
  }

  /** What was answered before the upstream was asked is in its figure. */
  #forgetCounted(at: number): void {
    for (const claim of this.#claims) {
      if (claim.settledAt !== undefined && claim.settledAt <= at) this.#claims.delete(claim);
    }
  }
}

function isOver({ resetsAt }: KnownCount, at: number): boolean {
  return resetsAt !== undefined && resetsAt <= at;
}
