// When which account has to be looked at again: a heap of moments, soonest first.

interface Wake {
  readonly at: number;
  readonly accountId: string;
}

export function createExpiryHeap() {
  const heap: Wake[] = [];
  return {
    add(at: number, accountId: string): void {
      heap.push({ at, accountId });
      rise(heap, heap.length - 1);
    },
    /** Takes the soonest one out when its moment has come. */
    takeDue(now: number): string | undefined {
      const first = heap[0];
      if (first === undefined || first.at > now) return undefined;
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) {
        heap[0] = last;
        sink(heap);
      }
      return first.accountId;
    },
    get size() {
      return heap.length;
    },
  };
}

function rise(heap: Wake[], start: number): void {
  let index = start;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!swapWhenLater(heap, parent, index)) return;
    index = parent;
  }
}

function sink(heap: Wake[]): void {
  for (let index = 0; ; ) {
    const left = 2 * index + 1;
    const right = left + 1;
    const sooner = endOf(heap, right) < endOf(heap, left) ? right : left;
    if (sooner >= heap.length || !swapWhenLater(heap, index, sooner)) return;
    index = sooner;
  }
}

function endOf(heap: readonly Wake[], index: number): number {
  return heap[index]?.at ?? Number.POSITIVE_INFINITY;
}

/** Swaps parent and child when the parent comes later. */
function swapWhenLater(heap: Wake[], parent: number, child: number): boolean {
  const [one, other] = [heap[parent], heap[child]];
  if (one === undefined || other === undefined || one.at <= other.at) return false;
  heap[parent] = other;
  heap[child] = one;
  return true;
}
