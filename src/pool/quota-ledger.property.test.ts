import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QuotaLedger } from './quota-ledger.ts';

/** An upstream with so many calls left, which counts each call at some moment while it runs. */
interface Call {
  readonly claim: ReturnType<QuotaLedger['reserve']>;
  isCounted: boolean;
}

type Step =
  | { readonly kind: 'begin' | 'ask' | 'tell' }
  | { readonly kind: 'count' | 'answer' | 'fail' | 'leave'; readonly nth: number };

const nth = fc.nat(20);
/** Runs in which calls end in this way too. */
const stepsWith = (kind: 'fail' | 'leave') =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
      fc.record({ kind: fc.constantFrom('ask' as const, 'tell' as const) }),
      fc.record({ kind: fc.constantFrom('count' as const, 'answer' as const), nth }),
      fc.record({ kind: fc.constant(kind), nth }),
    ),
    { maxLength: 80 },
  );
const STEPS = stepsWith('fail');
const WITH_ABORTS = stepsWith('leave');

class World {
  readonly ledger = new QuotaLedger();
  readonly running: Call[] = [];
  left: number;
  #now = 0;
  #asked: number | undefined;

  constructor(left: number) {
    this.left = left;
    this.read();
  }

  read(): void {
    this.#now += 1;
    this.ledger.learn({ calls: this.left, readAt: this.#now, resetsAt: undefined }, this.#now);
  }

  take(step: Step): void {
    this.#now += 1;
    switch (step.kind) {
      case 'begin':
        if (this.ledger.room === 0) return;
        this.running.push({ claim: this.ledger.reserve(this.#now), isCounted: false });
        return;
      case 'ask':
        this.#asked ??= this.#now;
        return;
      case 'tell':
        if (this.#asked === undefined) return;
        this.ledger.learn(
          { calls: this.left, readAt: this.#asked, resetsAt: undefined },
          this.#now,
        );
        this.#asked = undefined;
        return;
      case 'count':
        this.#count(this.running[step.nth]);
        return;
      default:
        this.#end(step.kind, step.nth);
    }
  }

  /** Answered and left calls are counted; failed ones are not, and those counted cannot fail. */
  #end(how: 'answer' | 'fail' | 'leave', at: number): void {
    const call = this.running[at];
    if (call === undefined || (how === 'fail' && call.isCounted)) return;
    if (how !== 'fail') this.#count(call);
    this.running.splice(at, 1);
    if (how === 'answer') call.claim.settle(this.#now);
    else call.claim.release();
  }

  finish(): void {
    while (this.running.length > 0) this.take({ kind: 'answer', nth: 0 });
  }

  #count(call: Call | undefined): void {
    if (call === undefined || call.isCounted) return;
    call.isCounted = true;
    this.left -= 1;
  }

  /** What is left when every call under way has been counted. */
  get leftInTheEnd(): number {
    return this.left - this.running.filter(({ isCounted }) => !isCounted).length;
  }
}

test('in whatever order calls end and figures come, no more calls begin than the quota holds', () => {
  fc.assert(
    fc.property(fc.nat(12), STEPS, (quota, steps) => {
      const world = new World(quota);
      for (const step of steps) {
        world.take(step);
        expect(world.leftInTheEnd).toBeGreaterThanOrEqual(0);
        expect(world.ledger.room).toBeGreaterThanOrEqual(0);
        expect(world.ledger.room).toBeLessThanOrEqual(world.leftInTheEnd);
      }
    }),
    { numRuns: 300 },
  );
});

test('when all is quiet the next figure is what is left, and nothing stays reserved', () => {
  fc.assert(
    fc.property(fc.nat(12), WITH_ABORTS, (quota, steps) => {
      const world = new World(quota);
      for (const step of steps) {
        world.take(step);
        expect(world.ledger.room).toBeGreaterThanOrEqual(0);
      }
      world.finish();
      world.read();
      expect(world.ledger.room).toBe(Math.max(0, world.left));
      expect(world.ledger.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('a figure that counts calls under way already leaves room for all the others', () => {
  const ledger = new QuotaLedger();
  ledger.learn({ calls: 20, readAt: 1, resetsAt: undefined }, 1);
  const claims = Array.from({ length: 10 }, () => ledger.reserve(2));
  expect(ledger.room).toBe(10);
  ledger.learn({ calls: 10, readAt: 3, resetsAt: undefined }, 3);
  expect(ledger.room).toBe(10);
  for (const claim of claims) claim.settle(4);
  ledger.learn({ calls: 10, readAt: 5, resetsAt: undefined }, 5);
  expect(ledger.room).toBe(10);
});

test('a call that was counted already gives nothing back when its client leaves', () => {
  const ledger = new QuotaLedger();
  ledger.learn({ calls: 2, readAt: 1, resetsAt: undefined }, 1);
  const left = ledger.reserve(2);
  ledger.learn({ calls: 1, readAt: 3, resetsAt: undefined }, 3);
  left.release();
  expect(ledger.room).toBe(1);
});

test('a new window begins with its own figure, less what is under way', () => {
  const ledger = new QuotaLedger();
  ledger.learn({ calls: 2, readAt: 1, resetsAt: 100 }, 1);
  const answered = ledger.reserve(2);
  ledger.reserve(3);
  answered.settle(4);
  ledger.learn({ calls: 2, readAt: undefined, resetsAt: undefined }, 100);
  expect(ledger.room).toBe(1);
});

test('ending a call a second time changes nothing', () => {
  const ledger = new QuotaLedger();
  ledger.learn({ calls: 1, readAt: 1, resetsAt: undefined }, 1);
  const claim = ledger.reserve(2);
  claim.release();
  claim.release();
  claim.settle(3);
  expect([ledger.room, ledger.size]).toEqual([1, 0]);
  const answered = ledger.reserve(4);
  answered.settle(5);
  answered.release();
  expect([ledger.room, ledger.size]).toEqual([0, 1]);
  answered.settle(6);
  ledger.learn({ calls: 0, readAt: 5, resetsAt: undefined }, 6);
  expect([ledger.room, ledger.size]).toEqual([0, 0]);
});

test('where nobody knows the quota, nothing is held back and nothing piles up', () => {
  const ledger = new QuotaLedger();
  for (let call = 0; call < 100; call += 1) ledger.reserve(call).settle(call);
  expect([ledger.room, ledger.size]).toEqual([undefined, 0]);
});
