import { writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import type { Settings } from './effective.ts';
import type { FileSourceOptions } from './file.ts';
import { createLiveConfig, type LiveConfig } from './live.ts';
import { UnusableFileError } from './values.ts';

let folder = '';
let path = '';
let live: LiveConfig | undefined;

beforeEach(async () => {
  folder = makeTestFolder('live');
  path = join(folder, 'gui_config.json');
});

afterEach(async () => {
  await live?.close();
});

/** A clock whose timers run only when the test says so. */
function createManualClock(): {
  readonly clock: Clock;
  fire(delayMs: number): void;
  /** The delays that timers wait for. */
  waitingFor(): readonly number[];
} {
  const waiting = new Map<object, { readonly delayMs: number; readonly run: () => void }>();
  const startTimer = (delayMs: number, run: () => void) => {
    const key = {};
    waiting.set(key, { delayMs, run });
    return { refresh: () => undefined, cancel: () => waiting.delete(key) };
  };
  return {
    clock: { ...createSystemClock(), startTimer },
    fire(delayMs) {
      for (const [key, timer] of [...waiting]) {
        if (timer.delayMs !== delayMs) continue;
        waiting.delete(key);
        timer.run();
      }
    },
    waitingFor: () => [...waiting.values()].map(({ delayMs }) => delayMs),
  };
}

async function start(
  watch: FileSourceOptions['watch'] = () => undefined,
  clock = createManualClock().clock,
) {
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: object, text: string) => warnings.push(text) };
  live = await createLiveConfig({ path, environment: {}, clock, log, watch });
  return { config: live, warnings };
}

const write = (value: unknown): Promise<void> => writeFile(path, JSON.stringify(value));

test('an edit of the file is in force after the reload, for every subscriber (P190)', async () => {
  await write({ proxy: { custom_mapping: { a: 'b' } } });
  const { config } = await start();
  const seen: Settings[] = [];
  const end = config.subscribe((settings) => seen.push(settings));
  await write({ proxy: { custom_mapping: { a: 'c' } } });
  await config.reload();
  expect(config.current().customMapping).toEqual({ a: 'c' });
  expect(seen).toHaveLength(1);
  end();
  await write({});
  await config.reload();
  expect(seen).toHaveLength(1);
});

test('a bad or vanished file is refused and the settings stay (T27)', async () => {
  await write({ api_key: 'k', proxy: { auth_mode: 'strict' } });
  const { config, warnings } = await start();
  await writeFile(path, '{"proxy":{"auth_mode":"none"}}');
  await config.reload();
  expect(config.current()).toMatchObject({ authMode: 'strict', apiKey: 'k' });
  expect(config.problems()[0]?.text).toContain('proxy.auth_mode');
  await rm(path);
  await config.reload();
  expect(config.current().authMode).toBe('strict');
  expect(config.problems()[0]?.text).toMatch(/^the file is gone: /);
  expect(warnings).toHaveLength(2);
  await write({ api_key: 'k' });
  await config.reload();
  expect(config.problems()).toEqual([]);
  expect(warnings.at(-1)).toContain('weaker');
});

test('an update keeps other keys and edits by hand, and is there after a restart (P191, V165)', async () => {
  await write({ theme: 'dark', proxy: { port: 9000 } });
  const { config } = await start();
  await write({ theme: 'light', proxy: { port: 9000 } });
  const settings = await config.update({ proxy: { auth_mode: 'strict' } });
  expect(settings).toMatchObject({ port: 9000, authMode: 'strict' });
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    theme: 'light',
    proxy: { port: 9000, auth_mode: 'strict' },
  });
  await config.close();
  expect((await start()).config.current().authMode).toBe('strict');
});

test('updates at once all count; a bad one changes nothing', async () => {
  const { config } = await start();
  const results = await Promise.allSettled([
    config.update({ proxy: { custom_mapping: { a: 'x' } } }),
    config.update({ proxy: { port: 'no' } }),
    config.update({ proxy: { custom_mapping: { b: 'y' } } }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(config.current().customMapping).toEqual({ a: 'x', b: 'y' });
});

test('an update does not overwrite an edit by hand that has problems', async () => {
  await write({});
  const { config } = await start();
  await writeFile(path, '{ "api_key": ');
  await expect(config.update({ api_key: 'k' })).rejects.toThrow(UnusableFileError);
  expect(config.problems()).toEqual(['the file is not complete JSON']);
  expect(await readFile(path, 'utf8')).toBe('{ "api_key": ');
});

test('an update that is in the file counts, also where its last good copy cannot be written', async () => {
  const { config, warnings } = await start();
  await mkdir(`${path}.bak`);
  await config.update({ proxy: { port: 9000 } });
  expect(config.current().port).toBe(9000);
  expect(warnings).toEqual(['The last good copy of the config file cannot be written.']);
});

test('an edit by hand while an update is written is taken along, a bad one not overwritten', async () => {
  await write({ theme: 'dark' });
  const { config } = await start();
  const edits = ['{"theme":"light","mine":1}', '{"theme":"light","mine":2}'];
  await config.update(() => {
    const edit = edits.shift();
    if (edit !== undefined) writeFileSync(path, edit);
    return { proxy: { port: 9000 } };
  });
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    theme: 'light',
    mine: 2,
    proxy: { port: 9000 },
  });
  const late = config.update(() => {
    writeFileSync(path, '{ "theme": ');
    return { proxy: { port: 9001 } };
  });
  await expect(late).rejects.toThrow(UnusableFileError);
  expect(await readFile(path, 'utf8')).toBe('{ "theme": ');
  expect(config.current().port).toBe(9000);
});

test('a file that something else writes all the time is left to it', async () => {
  await write({});
  const { config } = await start();
  let turn = 0;
  const update = config.update(() => {
    turn += 1;
    writeFileSync(path, `{"turn":${turn}}`);
    return { proxy: { port: 9000 } };
  });
  await expect(update).rejects.toThrow(/another program keeps writing it/);
  expect(await readFile(path, 'utf8')).toBe(`{"turn":${turn}}`);
});

test('a burst of changes in the folder is read once, other files are not looked at', async () => {
  let report: (fileName: string | null) => void = () => undefined;
  const { clock, fire, waitingFor } = createManualClock();
  const { config } = await start((_folder, onChange) => {
    report = onChange;
    return { close: () => undefined };
  }, clock);
  const changed = new Promise<Settings>((resolve) => config.subscribe(resolve));
  await write({ proxy: { port: 9001 } });
  report('other.json');
  expect(waitingFor()).not.toContain(100);
  report('gui_config.json');
  report(null);
  expect(waitingFor().filter((delayMs) => delayMs === 100)).toHaveLength(1);
  fire(100);
  expect((await changed).port).toBe(9001);
});

test('where the system does not say which file changed, ours is looked at', async () => {
  let report: (fileName: string | null) => void = () => undefined;
  const { clock, fire } = createManualClock();
  const { config } = await start((_folder, onChange) => {
    report = onChange;
    return { close: () => undefined };
  }, clock);
  const changed = new Promise<Settings>((resolve) => config.subscribe(resolve));
  await write({ proxy: { port: 9003 } });
  report(null);
  fire(100);
  expect((await changed).port).toBe(9003);
});

test('a folder that reports nothing is looked at every two seconds, until the end', async () => {
  await write({});
  const { clock, fire, waitingFor } = createManualClock();
  const { config } = await start(() => undefined, clock);
  const changed = new Promise<Settings>((resolve) => config.subscribe(resolve));
  fire(0);
  await expect.poll(waitingFor, { interval: 1 }).toEqual([2000]);
  await write({ proxy: { port: 9004 } });
  fire(2000);
  await expect.poll(waitingFor, { interval: 1 }).toEqual([100, 2000]);
  fire(100);
  expect((await changed).port).toBe(9004);
  await config.close();
  expect(waitingFor()).toEqual([]);
});

test('an edit right after the file was loaded is not missed where nothing is reported', async () => {
  await write({});
  const { clock, fire, waitingFor } = createManualClock();
  const { config } = await start(() => undefined, clock);
  const changed = new Promise<Settings>((resolve) => config.subscribe(resolve));
  await write({ proxy: { port: 9004 } });
  fire(0);
  await expect.poll(waitingFor, { interval: 1 }).toEqual([100, 2000]);
  fire(100);
  expect((await changed).port).toBe(9004);
});

test('a part that fails with the new settings keeps no other from them; what changes nothing is not told', async () => {
  const { config, warnings } = await start();
  const seen: number[] = [];
  config.subscribe(() => {
    throw new Error('cannot');
  });
  config.subscribe(({ port }) => seen.push(port));
  await config.update({ proxy: { port: 9005 } });
  await config.update({ theme: 'dark' });
  expect([seen, warnings]).toEqual([[9005], [expect.stringContaining('could not take')]]);
});

test('the real folder watch reports an edit', async () => {
  await write({});
  const log = { info: () => undefined, warn: () => undefined };
  live = await createLiveConfig({ path, environment: {}, clock: createSystemClock(), log });
  const changed = new Promise<Settings>((resolve) => live?.subscribe(resolve));
  await write({ proxy: { port: 9002 } });
  expect((await changed).port).toBe(9002);
});
