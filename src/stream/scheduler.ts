// Does in a row what many requests need alike: each kind of work waits for its stage in a turn of the event loop.

/**
 * The rest comes with the next turn: what the first ones lead to, at upstreams and at clients, goes on
 * meanwhile. More in a row cost no less each.
 */
const MAX_IN_A_ROW = 16;

class Stage {
  readonly #following: Stage | undefined;
  #waiting: (() => void)[] = [];
  #isDue = false;

  constructor(following?: Stage) {
    this.#following = following;
  }

  /** What throws here ends the process as it would anywhere else; the others are done before. */
  add(work: () => void): void {
    this.#waiting.push(work);
    this.#announce();
  }

  /** The stage behind is announced with this one, so that what this one leads to is done in the same turn. */
  #announce(): void {
    if (!this.#isDue) {
      this.#isDue = true;
      setImmediate(this.#run);
    }
    if (this.#following !== undefined) this.#following.#announce();
  }

  readonly #run = (): void => {
    this.#isDue = false;
    const due = this.#waiting;
    this.#waiting = due.splice(MAX_IN_A_ROW);
    if (this.#waiting.length > 0) this.#announce();
    for (const work of due) {
      try {
        work();
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
    }
  };

  /** Resolves in this stage of the turn. */
  reach(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.add(resolve);
    return promise;
  }
}

const toClients = new Stage();
const toUpstreams = new Stage();

/**
 * Node hands every socket its bytes as it gets to it. A request taken through all of its code at that
 * moment has that code fetched from memory for itself alone, and wakes the other side with each write.
 * Behind the reads of a turn, stage by stage, the same code runs for all of them while the processor
 * still has it, in two thirds of the time (`decisions/014-work-in-stages.md`). Nothing is waited for.
 */
export const turn = {
  /** Requests that have come and are not refused. */
  requests: new Stage(toUpstreams),
  /** What goes to upstreams. */
  toUpstreams,
  /** What upstreams have sent. */
  answers: new Stage(toClients),
  /** What goes to clients. */
  toClients,
};
