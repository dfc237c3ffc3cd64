// Lets only so many jobs run at the same time; the others wait in the order they came.

export function createConcurrencyLimit(
  most: number,
): <Result>(job: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    // Whoever ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
