// A stream that stops in its middle until it is told to go on.

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
