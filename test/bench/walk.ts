// How far one request walks: distinct functions and files of our own that a warm stream runs through, in each
// protocol, by V8's precise coverage. Prints one JSON object; a program of its own, as coverage slows everything.

import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startPoolApp } from '../support/pool-app.ts';
import { PROTOCOL_CALLS, type ProtocolCall, send } from '../support/protocol-calls.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

export interface Walk {
  readonly protocol: string;
  readonly functions: number;
  readonly files: number;
}

/** So many requests go before the one that is looked at. */
const WARM_UP = 1_000;
const SOURCE = pathToFileURL(join(import.meta.dirname, '../../src/')).href;

const upstream = await startScriptedUpstream();
const gateway = await startPoolApp({
  file: { upstreams: { play: { profile: 'sandbox', base_url: upstream.url } } },
});
for (const label of ['one', 'two', 'three']) {
  const account = { upstream: 'play', kind: 'api-key', label, key: `key.${label}` };
  await gateway.must('POST', '/api/accounts', account);
}
await gateway.app.pool.ensureModels();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
const walks: Walk[] = [];
for (const call of PROTOCOL_CALLS) walks.push(await walk(call));
session.disconnect();
await gateway.close();
await upstream.close();
process.stdout.write(`${JSON.stringify(walks)}\n`);

async function walk(call: ProtocolCall): Promise<Walk> {
  for (let nth = 0; nth < WARM_UP; nth += 1) await ask(call);
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await ask(call);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const ours = result.filter(({ url }) => url.startsWith(SOURCE));
  const run = ours.map(({ functions }) =>
    functions.filter(({ ranges }) =>
      ranges.some(({ startOffset, count }) => startOffset > 0 && count > 0),
    ),
  );
  return {
    protocol: call.name,
    functions: run.reduce((sum, functions) => sum + functions.length, 0),
    files: run.filter((functions) => functions.length > 0).length,
  };
}

async function ask(call: ProtocolCall): Promise<void> {
  const { status, text } = await send(gateway.url, call, { stream: true, text: 'Hello' });
  if (status !== 200 || !call.isComplete(text)) throw new Error(`${call.name}: ${status} ${text}`);
}
