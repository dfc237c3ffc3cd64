import type { Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createHandover } from './worker-connections.ts';

const clients: Socket[] = [];
const endings: (() => void)[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const end of endings.splice(0)) end();
});

const MARK = 'isthmus-handover';

/** A worker as its parent has it, which says what a test wants it to. */
class TestWorker extends EventEmitter {
  readonly process = new EventEmitter();
  readonly heard: Record<string, unknown>[] = [];
  readonly isConnected = (): boolean => true;

  send(message: Record<string, unknown>): boolean {
    this.heard.push(message);
    this.emit('heard');
    return true;
  }

  say(message: object): void {
    this.emit('message', { mark: MARK, ...message });
  }

  get connections(): number {
    return this.heard.filter(({ kind }) => kind === 'connection').length;
  }

  async hears(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(this, 'heard');
  }
}

async function open() {
  const clock = createFakeClock();
  const handover = createHandover(clock);
  const lost: TestWorker[] = [];
  let port = 0;
  const start = async ({ listens = true } = {}): Promise<TestWorker> => {
    const worker = new TestWorker();
    // The parts of a worker that its parent asks for.
    handover.serve(worker as unknown as Worker, () => lost.push(worker));
    if (!listens) return worker;
    worker.say({ kind: 'listen', address: { host: '127.0.0.1', port: 0 } });
    await worker.hears(() => worker.heard.length > 0);
    port = Number(worker.heard[0]?.port);
    return worker;
  };
  const workers = [await start(), await start()] as const;
  endings.push(() => {
    handover.end();
    for (const worker of workers) worker.process.emit('close');
  });
  return {
    ...{ clock, workers, lost, start },
    /** All who run say so each second. */
    async run(seconds: number, running: readonly TestWorker[]): Promise<void> {
      for (let second = 0; second < seconds; second += 1) {
        for (const worker of running) worker.say({ kind: 'here' });
        await clock.advance(1000);
      }
    },
    call(): void {
      clients.push(connect(port, '127.0.0.1').on('error', () => undefined));
    },
  };
}

test('a worker that stands still is handed nothing more, until it goes on', async () => {
  const { workers, run, call } = await open();
  const [first, second] = workers;
  await run(2, workers);
  await run(4, [second]);
  for (let turn = 1; turn <= 3; turn += 1) {
    call();
    await second.hears(() => second.connections === turn);
    if (turn < 3) second.say({ kind: 'taken', isTaken: true });
  }
  expect(first.connections).toBe(0);
  call();
  first.say({ kind: 'here' });
  await first.hears(() => first.connections === 1);
});

test('a worker that stood still for half a minute is lost', async () => {
  const { workers, lost, run } = await open();
  const [first, second] = workers;
  await run(29, [second]);
  expect(lost).toEqual([]);
  await run(1, [second]);
  expect(lost).toEqual([first]);
});

test('a worker that does not listen yet is lost after ten minutes in which it said nothing', async () => {
  const { workers, lost, run, start } = await open();
  const silent = await start({ listens: false });
  await run(599, workers);
  silent.say({ kind: 'here' });
  await run(599, workers);
  expect(lost).toEqual([]);
  await run(1, workers);
  expect(lost).toEqual([silent]);
});
