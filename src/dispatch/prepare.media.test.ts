import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import type { FetchedMedia } from '../media/fetch-media.ts';
import type { Lease } from '../pool/pool.ts';
import type { RelayBody } from '../protocols/relayed-request.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { FIRST_PLAN } from './attempt-plan.ts';
import { contextOf } from './dispatch.test-support.ts';
import { CallBodies } from './prepare.ts';

const ADDRESS = 'https://a.example/1';
const REQUEST = requestOf({
  turns: [user({ kind: 'media', modality: 'image', source: { kind: 'url', url: ADDRESS } })],
});
const clock = createFakeClock();

/** Of an upstream whose bodies show the request. */
function leaseOf(id: string, isReader: boolean): Lease {
  const upstream = {
    ...createFakeUpstream(() => ({ frames: [] })),
    id,
    readsUri: () => isReader,
    encode: ({ turns }: typeof REQUEST) => ({ said: JSON.stringify(turns) }),
  };
  const { pool } = createSeedPool({ accounts: [{ id: 'a' }], upstream, clock });
  const leased = pool.lease({ model: 'm', clientKeyId: 'k' });
  if (leased.kind !== 'lease') throw new Error('No account was lent.');
  return leased.lease;
}

const readsNothing = leaseOf('blind', false);
const readsAll = leaseOf('reader', true);

function bodiesOf(isEnabled: boolean, relay?: RelayBody) {
  const asked: string[] = [];
  const media = {
    isEnabled: () => isEnabled,
    fetch: async (url: string): Promise<FetchedMedia> => {
      asked.push(url);
      return { mediaType: 'image/png', base64: 'AAAA' };
    },
    close: async () => {},
  };
  const call = {
    get request() {
      if (relay !== undefined) throw new Error('A relayed body need not be understood.');
      return REQUEST;
    },
    relay,
  };
  const bodies = new CallBodies(call, contextOf(), {
    keeper: new SignatureCache({ clock }),
    media,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  const said = async (lease: Lease) =>
    `${(await bodies.prepare(lease, FIRST_PLAN, ROUTE)).body.said}`;
  return { asked, said };
}

const ROUTE = { target: 'm', webSearch: false };

test('nothing is fetched unless the operator allows it', async () => {
  const { said, asked } = bodiesOf(false);
  expect(await said(readsNothing)).toContain(ADDRESS);
  expect(asked).toEqual([]);
});

test('each upstream gets what it does not read itself, fetched once', async () => {
  const { said, asked } = bodiesOf(true);
  expect(await said(readsAll)).toContain(ADDRESS);
  expect(await said(readsNothing)).toContain('"base64":"AAAA"');
  expect(await said(readsAll)).toContain(ADDRESS);
  await said(readsNothing);
  expect(asked).toEqual([ADDRESS]);
});

test('a relayed body is not read, and nothing of it is fetched', async () => {
  const { said, asked } = bodiesOf(true, { wire: 'fake-wire', body: {} });
  expect(await said(readsNothing)).toBe('undefined');
  expect(asked).toEqual([]);
});
