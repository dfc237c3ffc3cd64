import { expect, test } from 'vitest';
import { createChannel } from '../../test/support/channel.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { Hub } from '../cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../cluster/parent.ts';
import { createMetricsText, shareMetrics } from './metrics-text.ts';

function openWorkers(count: number) {
  const clock = createFakeClock();
  const hub = new Hub(clock);
  const workers = Array.from({ length: count }, (_, index) => {
    const replica = `worker-${index}`;
    const [parentEnd, channel] = createChannel();
    const leave = serveWorker(hub, parentEnd);
    const cluster = createWorkerCluster({ replica, channel, clock, onFault });
    const text = createMetricsText();
    const requests = text.counter('isthmus_requests_total', 'Model requests that ended.');
    const duration = text.histogram('isthmus_seconds', 'Time.', { least: 1000, most: 2000 });
    text.gauge('isthmus_accounts', 'Accounts by state.', () => [[{ state: 'active' }, 3]]);
    // The last one has lost it.
    text.gauge('isthmus_database_up', 'Whether it answers.', () => [
      [{}, Number(index < count - 1)],
    ]);
    return {
      leave,
      /** It is there, and says nothing. */
      mute(): void {
        channel.send = () => undefined;
      },
      requests,
      duration,
      ...shareMetrics({ cluster, clock, write: text.write }),
    };
  });
  return { clock, workers };
}

test('whichever worker is asked, the page has the requests of all, and each account once', async () => {
  const { clock, workers } = openWorkers(3);
  for (const [index, { requests, duration }] of workers.entries()) {
    requests({ model: 'a' }).value += index + 1;
    duration({}).observe(index * 3000);
  }
  workers[2]?.requests({ model: 'only there' }).value.toString();
  await clock.advance(0);
  const page = workers[1]?.gather();
  await clock.advance(0);
  const text = (await page) ?? '';
  expect(text).toContain('isthmus_requests_total{model="a"} 6\n');
  expect(text).toContain('isthmus_requests_total{model="only there"} 0\n');
  expect(text).toContain('isthmus_seconds_bucket{le="1.024"} 1\n');
  expect(text).toContain('isthmus_seconds_count 3\n');
  expect(text).toContain('isthmus_accounts{state="active"} 3\n');
  expect(text).toContain('isthmus_database_up 0\n');
  expect(text.match(/# TYPE isthmus_requests_total counter/g)).toHaveLength(1);
});

test('counters do not fall when a worker is silent or gone, whichever is asked then', async () => {
  const { clock, workers } = openWorkers(4);
  const [first, second, third, fourth] = workers;
  for (const [index, { requests, duration }] of workers.entries()) {
    requests({ model: 'a' }).value += index + 1;
    duration({}).observe(index * 3000);
  }
  await clock.advance(0);
  const ask = async (worker = first): Promise<string> => {
    const page = worker?.gather();
    await clock.advance(1000);
    return (await page) ?? '';
  };
  expect(await ask()).toContain('isthmus_requests_total{model="a"} 10\n');
  third?.mute();
  fourth?.leave();
  for (const asked of [second, first]) {
    const page = await ask(asked);
    expect(page).toContain('isthmus_requests_total{model="a"} 10\n');
    expect(page).toContain('isthmus_seconds_count 4\n');
    expect(page).toContain('isthmus_accounts{state="active"} 3\n');
  }
  // One that ends in order says what it counted since it was last asked.
  if (second) second.requests({ model: 'a' }).value += 5;
  const closed = second?.close();
  await clock.advance(0);
  await closed;
  second?.leave();
  expect(await ask()).toContain('isthmus_requests_total{model="a"} 15\n');
});

function onFault(error: unknown): never {
  throw error;
}
