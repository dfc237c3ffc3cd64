// What every store of kept answers must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  DurableResponseStore,
  StoredResponseRow,
} from '../../src/stored-responses/response-store.ts';
import type { OpenedStore } from './account-store.ts';

const LATER = 4_000_000_000_000;

export function describeDurableResponseStore(
  name: string,
  open: () => Promise<OpenedStore<DurableResponseStore>>,
): void {
  describe(`kept answer store: ${name}`, () => {
    let opened: OpenedStore<DurableResponseStore>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test('answers come back whole after a restart, by their id and by their items', async () => {
      const kept = row('key', 'r1');
      await opened.store.save(kept);
      const store = await opened.reopen();
      expect(await store.find('key', 'r1')).toEqual(kept.json);
      expect(await store.findByItem('key', 'msg_r1')).toEqual(kept.json);
      expect(await store.find('key', 'r2')).toBeUndefined();
      expect(await store.findByItem('key', 'msg_r2')).toBeUndefined();
    });

    test('large answers come back whole, as they were saved, replaced or changed last', async () => {
      const long = (text: string): string => text.repeat(400_000);
      const kept = row('key', 'r1', `odd${long('😀')}`);
      await opened.store.save(kept);
      const store = await opened.reopen();
      expect((await store.find('key', 'r1')) === kept.json).toBe(true);
      expect((await store.findByItem('key', 'msg_r1')) === kept.json).toBe(true);
      expect(await store.find('two', 'r1')).toBeUndefined();
      const changed = row('key', 'r1', long('ü'));
      await store.change('key', 'r1', () => [changed, row('key', 'r2', long('y'))]);
      expect((await store.find('key', 'r1')) === changed.json).toBe(true);
      const again = row('key', 'r1', long('x'));
      await store.save(again);
      expect((await store.find('key', 'r1')) === again.json).toBe(true);
      expect(await store.remove('key', 'r1')).toBe(true);
      expect(await store.find('key', 'r1')).toBeUndefined();
      expect(await store.findByItem('key', 'msg_r1')).toBeUndefined();
      expect(await store.findByItem('key', 'msg_r2')).toBeDefined();
    });

    test('no key sees or removes the answers of another', async () => {
      const { store } = opened;
      await store.save(row('one', 'r'));
      expect(await store.find('two', 'r')).toBeUndefined();
      expect(await store.findByItem('two', 'msg_r')).toBeUndefined();
      expect(await store.remove('two', 'r')).toBe(false);
      expect(await store.find('one', 'r')).toBeDefined();
    });

    test('a removed answer is gone with its items', async () => {
      const { store } = opened;
      await store.save(row('key', 'r'));
      expect(await store.remove('key', 'r')).toBe(true);
      expect(await store.remove('key', 'r')).toBe(false);
      expect(await store.findByItem('key', 'msg_r')).toBeUndefined();
    });

    test('expired answers are not given', async () => {
      const { store } = opened;
      await store.save({ ...row('key', 'r'), expiresAt: 1 });
      expect(await store.find('key', 'r')).toBeUndefined();
    });

    test('an answer saved again replaces the first', async () => {
      const { store } = opened;
      await store.save(row('key', 'r'));
      const again = row('key', 'r', 'second');
      await store.save(again);
      expect(await store.find('key', 'r')).toEqual(again.json);
    });

    test('answers that are saved at once are all kept, and of one id or item the latest', async () => {
      const { store } = opened;
      const rows = Array.from({ length: 200 }, (_, index) => row(`key ${index % 3}`, `r${index}`));
      const again = { ...row('key 0', 'r0', 'second'), itemIds: ['msg_r0', 'msg_r3'] };
      await Promise.all([...rows, again].map((one) => store.save(one)));
      for (const { clientKeyId, id, json } of rows.slice(1))
        expect(await store.find(clientKeyId, id)).toEqual(json);
      expect(await store.find('key 0', 'r0')).toEqual(again.json);
      expect(await store.findByItem('key 0', 'msg_r3')).toEqual(again.json);
    });

    test('changes of one answer that are asked for at once all count, with what comes with them', async () => {
      const { store } = opened;
      const counted = (count: number): StoredResponseRow => ({
        ...row('key', 'r'),
        json: JSON.stringify({ count }),
      });
      await store.save(counted(0));
      const count = (json: string): number => Number(JSON.parse(json).count);
      const add = (): Promise<unknown> =>
        store.change('key', 'r', (json) => [
          counted(count(json) + 1),
          row('key', `turn ${count(json)}`),
        ]);
      await Promise.all(Array.from({ length: 5 }, add));
      expect(count((await store.find('key', 'r')) ?? '')).toBe(5);
      for (let turn = 0; turn < 5; turn += 1)
        expect(await store.find('key', `turn ${turn}`)).toBeDefined();
      expect(await store.change('key', 'gone', () => [row('key', 'gone')])).toBeUndefined();
      expect(await store.find('key', 'gone')).toBeUndefined();
    });
  });
}

function row(clientKeyId: string, id: string, text = 'first'): StoredResponseRow {
  const input = [{ type: 'message', role: 'user', content: text }];
  const response = { id, output: [{ id: `msg_${id}`, text }], created_at: 1 };
  const json = JSON.stringify({ id, previousId: 'r0', input, response });
  return { clientKeyId, id, json, itemIds: [`msg_${id}`], expiresAt: LATER };
}
