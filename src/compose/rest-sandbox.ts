// Lets the sandbox's own accounts rest while there are others: nobody wants a made-up answer beside real ones.

import type { AccountBook } from '../accounts/account-book.ts';

/** The answer ends it. */
export function restSandboxAccounts(book: AccountBook): () => void {
  const settle = (): void => {
    const accounts = book.list();
    const hasOthers = accounts.some(({ origin }) => origin === 'stored');
    for (const { record, origin, health } of accounts) {
      if (origin !== 'sandbox') continue;
      const { status } = health;
      const isResting = status.kind === 'disabled' && status.reason === 'standing-by';
      if (hasOthers && status.kind !== 'disabled') book.apply(record.id, { kind: 'stand-by' });
      if (!hasOthers && isResting) book.apply(record.id, { kind: 'enable' });
    }
  };
  settle();
  return book.subscribe(({ kind }) => {
    if (kind === 'added' || kind === 'removed') settle();
  });
}
