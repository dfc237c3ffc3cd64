// Jobs that must not overlap.

/** Runs jobs one after the other, each with its own result; one that fails does not keep back the next. */
export function createJobQueue(): <Result>(job: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job);
    last = result.catch(() => undefined);
    return result;
  };
}
