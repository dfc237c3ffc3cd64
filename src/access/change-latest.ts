// A change without a revision is made of whatever is stored, also of what another process stored a moment ago.

import { StoreError } from '../accounts/account-store.ts';

const MAX_TRIES = 5;

/** @param make throws StoreError `stale` where what this process knows is not the latest */
export async function changeLatest<Result>(
  copy: { reread(): Promise<void> },
  revision: number | undefined,
  make: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await make();
    } catch (error) {
      const isStale = error instanceof StoreError && error.fault === 'stale';
      if (!isStale || revision !== undefined || tries === MAX_TRIES) throw error;
    }
    await copy.reread();
  }
}
