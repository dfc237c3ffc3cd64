// Ids for calls and results that came without one: clients of older models pair them by name.

interface Call {
  readonly id: string;
  isOpen: boolean;
}

/** Calls of one id or one name; those before `next` have their results. */
interface CallQueue {
  readonly calls: Call[];
  next: number;
}

/**
 * Gives every call and result of a conversation an id, read front to back. Ids made here depend on
 * the position only, so the same history gives the same request, and they are never issued.
 */
export interface CallIds {
  /** A new model step begins: what is still unanswered is no longer paired by name. */
  startStep(): void;
  /** The id of a call; a new one when `id` is absent. */
  call(id: string | undefined, name: string, position: string): string;
  /** The id of a result: its own, else that of the earliest unanswered call of this name. */
  result(id: string | undefined, name: string, position: string): string;
}

export function createCallIds(): CallIds {
  let byId = new Map<string, CallQueue>();
  let byName = new Map<string, CallQueue>();
  return {
    startStep() {
      byId = new Map();
      byName = new Map();
    },
    call(id, name, position) {
      const call = { id: id ?? `unnamed_${position}`, isOpen: true };
      add(byId, call.id, call);
      add(byName, name, call);
      return call.id;
    },
    result(id, name, position) {
      const call = firstOpen(id === undefined ? byName.get(name) : byId.get(id));
      if (call !== undefined) call.isOpen = false;
      return id ?? call?.id ?? `unnamed_${position}`;
    },
  };
}

function add(queues: Map<string, CallQueue>, key: string, call: Call): void {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, { calls: [call], next: 0 });
  else queue.calls.push(call);
}

function firstOpen(queue: CallQueue | undefined): Call | undefined {
  if (queue === undefined) return undefined;
  while (queue.calls[queue.next]?.isOpen === false) queue.next += 1;
  return queue.calls[queue.next];
}
