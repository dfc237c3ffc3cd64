// Ids for calls and results that came without one: clients of older models pair them by name.

interface OpenCall {
  readonly id: string;
  readonly name: string;
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
  let open: OpenCall[] = [];
  const close = (index: number): string | undefined => open.splice(index, 1)[0]?.id;
  return {
    startStep() {
      open = [];
    },
    call(id, name, position) {
      const callId = id ?? `unnamed_${position}`;
      open.push({ id: callId, name });
      return callId;
    },
    result(id, name, position) {
      const index = open.findIndex((call) =>
        id === undefined ? call.name === name : call.id === id,
      );
      const callId = index === -1 ? undefined : close(index);
      return id ?? callId ?? `unnamed_${position}`;
    },
  };
}
