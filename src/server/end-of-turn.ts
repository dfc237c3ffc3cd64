// Work that is put off until all sockets that can be read in this turn of the event loop were read.

let waiting: (() => void)[] = [];

/**
 * Calls `work` behind the reads of this turn, in a row with what others put off: writing to many
 * clients in a row wakes their side once, and one immediate costs less than one for each.
 * `work` must not throw: what was put off behind it would wait for nobody.
 */
export function atEndOfTurn(work: () => void): void {
  if (waiting.length === 0) setImmediate(runAll);
  waiting.push(work);
}

function runAll(): void {
  const due = waiting;
  waiting = [];
  for (const work of due) work();
}
