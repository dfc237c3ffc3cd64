import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import type { UpstreamModel } from '../upstreams/upstream.ts';
import { createModelLists } from './model-lists.ts';
import { PooledAccount } from './pooled-account.ts';

async function readLists(models: readonly UpstreamModel[]): Promise<PooledAccount> {
  const upstream = {
    ...createFakeUpstream(() => ({ fail: { kind: 'path' } })),
    listModels: () => Promise.resolve(models),
  };
  const access = { accountId: 'a', credential: 'k', credentialKind: 'api-key' } as const;
  const account = new PooledAccount({ id: 'a', label: 'a', upstream, access });
  const clock = createFakeClock();
  const lists = createModelLists({ accounts: [account], clock, onFailure: () => {} });
  await lists.ensure();
  expect(lists.offered().isComplete).toBe(models.length > 0);
  return account;
}

test('a list limits the account to the models it names', async () => {
  const account = await readLists([{ id: 'm' }]);
  expect(account.modelIdFor('m')).toBe('m');
  expect(account.modelIdFor('other')).toBeUndefined();
});

test('a list without any model says nothing, so the account may offer everything', async () => {
  const account = await readLists([]);
  expect(account.modelIdFor('m')).toBe('m');
});
