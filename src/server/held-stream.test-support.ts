// A stream that stops in its middle until it is told to go on, and what holds once all have stopped.

export interface HeldStream {
  readonly chunks: AsyncGenerator<string>;
  release(): void;
}

/** `data: 1`, then, once released, `data: 2`. */
export function holdStream(): HeldStream {
  const gate = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    await gate.promise;
    yield 'data: 2\n\n';
  }
  return { chunks: chunks(), release: gate.resolve };
}

/** The value once it has stayed the same for many turns of the event loop. */
export async function stable(read: () => number): Promise<number> {
  let value = read();
  for (let turns = 0; turns < 200; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (read() !== value) turns = 0;
    value = read();
  }
  return value;
}
