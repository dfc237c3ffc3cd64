// How the security tests measure: processor time of their own thread, never the clock on the wall.

/** Milliseconds of processor time that this thread spends in `run`. */
export function threadMs(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** As `threadMs`, for work that waits in between; what else the thread does meanwhile counts too. */
export async function threadMsOf(run: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Runs `count` jobs, `width` of them at a time. */
export async function inParallel(
  count: number,
  width: number,
  job: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await job(index);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}
