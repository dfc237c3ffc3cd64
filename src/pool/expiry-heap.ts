// When which account has to be looked at again: a heap of moments, soonest first.

interface Wake {
  readonly at: number;
  readonly accountId: string;
}

export class ExpiryHeap {
  /** The moment of the first one; infinity while it is empty. */
  soonest = Number.POSITIVE_INFINITY;
  readonly #heap: Wake[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** Nothing for a moment that never comes. */
  add(accountId: string, at: number | undefined): void {
    if (at === undefined) return;
    this.#heap.push({ at, accountId });
    this.soonest = Math.min(this.soonest, at);
    for (let index = this.#heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapWhenLater(parent, index)) return;
      index = parent;
    }
  }

  /** Takes the soonest one out when its moment has come. */
  takeDue(now: number): string | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    this.soonest = this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
    return first.accountId;
  }

  #sink(): void {
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const [one, other] = [this.#heap[left], this.#heap[left + 1]];
      const sooner = other !== undefined && one !== undefined && other.at < one.at ? 1 : 0;
      if (!this.#swapWhenLater(index, left + sooner)) return;
      index = left + sooner;
    }
  }

  /** Swaps parent and child when the parent comes later. */
  #swapWhenLater(parent: number, child: number): boolean {
    const [one, other] = [this.#heap[parent], this.#heap[child]];
    if (one === undefined || other === undefined || one.at <= other.at) return false;
    this.#heap[parent] = other;
    this.#heap[child] = one;
    return true;
  }
}
