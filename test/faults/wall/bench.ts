// A gateway with one or three accounts, a victim whose requests meet the fault, and a neighbour whose requests do not.

import type { JsonObject } from '../../../src/lib/json.ts';
import { openRaw, type RawConnection } from '../../../src/server/raw-socket.test-support.ts';
import { type PoolApp, startPoolApp } from '../../support/pool-app.ts';
import {
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/scripted-upstream.ts';
import type { SurfaceCall } from '../../support/surface-calls.ts';

export interface WallAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How often the victim's requests meet the fault at the upstream. */
export type Extent = 'once' | 'always' | 'never';

export interface WallBench {
  readonly gateway: PoolApp;
  readonly upstream: ScriptedUpstream;
  /** Every account well again, as nothing had happened. */
  heal(): Promise<void>;
  meet(fault: ScriptedReply, extent: Extent): void;
  askVictim(call: SurfaceCall, question: Asked): Promise<WallAnswer>;
  /** Sends the beginning of the victim's request over a connection of its own. */
  connectVictim(call: SurfaceCall, question: Asked & { readonly share: number }): RawConnection;
  askNeighbour(): Promise<WallAnswer>;
  /** Accounts that are disabled or blocked, by label. */
  outOfService(): readonly string[];
  close(): Promise<void>;
}

interface Asked {
  readonly text: string;
  readonly stream: boolean;
}

const LABELS = ['kim', 'ken', 'kit'] as const;
const VICTIM_MODELS = ['alpha-3-flash', 'beta-sonnet-4-6'];
const NEIGHBOUR_MODEL = 'alpha-2.5-pro';
const DAY_MS = 25 * 3_600_000;

export async function startWall(accounts: 1 | 3): Promise<WallBench> {
  const upstream = await startScriptedUpstream([...VICTIM_MODELS, NEIGHBOUR_MODEL]);
  const gateway = await startPoolApp({
    file: {
      upstreams: { play: { profile: 'sandbox', base_url: upstream.url } },
      // Of the years that the wall skips, every hour would be summed up within the long waits.
      proxy: { monitor: { enabled: false } },
    },
  });
  const ids: string[] = [];
  for (const label of LABELS.slice(0, accounts)) {
    const account = { upstream: 'play', kind: 'api-key', label, key: `key.${label}` };
    ids.push(String((await gateway.must('POST', '/api/accounts', account)).id));
  }
  await gateway.app.pool.ensureModels();
  const keyOf = async (name: string): Promise<string> =>
    String((await gateway.must('POST', '/api/keys', { name })).secret);
  const victim = await keyOf('Victim');
  const neighbour = await keyOf('Neighbour');
  return {
    gateway,
    upstream,
    async heal() {
      upstream.script({});
      gateway.clock.skip(DAY_MS);
      for (const id of ids) {
        gateway.app.book.apply(id, { kind: 'clear-cooldown' });
        gateway.app.book.apply(id, { kind: 'enable' });
      }
      await gateway.app.pool.ensureModels();
    },
    meet(fault, extent) {
      let met = 0;
      const isMeant = ({ model }: ScriptedCall): boolean =>
        model !== NEIGHBOUR_MODEL && extent !== 'never' && (extent === 'always' || met === 0);
      upstream.script({
        model(call) {
          if (!isMeant(call)) return undefined;
          met += 1;
          return fault;
        },
      });
    },
    askVictim(call, question) {
      const { path, body } = jsonRequest(call, question);
      return ask({ url: `${gateway.url}${path}`, key: victim, body });
    },
    connectVictim(call, { share, ...question }) {
      const { path, body } = jsonRequest(call, question);
      const text = JSON.stringify(body);
      const { port, host } = new URL(gateway.url);
      const head = [
        `POST ${path} HTTP/1.1`,
        `host: ${host}`,
        'content-type: application/json',
        `authorization: Bearer ${victim}`,
        `content-length: ${Buffer.byteLength(text)}`,
      ];
      const connection = openRaw(Number(port));
      connection.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, text.length * share)}`);
      return connection;
    },
    askNeighbour: () =>
      ask({
        url: `${gateway.url}/v1/chat/completions`,
        key: neighbour,
        body: { model: NEIGHBOUR_MODEL, messages: [{ role: 'user', content: 'How are you?' }] },
      }),
    outOfService: () =>
      LABELS.filter((_, at) => {
        const account = gateway.app.book.find(ids[at] ?? '');
        return account !== undefined && account.health.status.kind !== 'active';
      }),
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

function jsonRequest(call: SurfaceCall, question: Asked): { path: string; body: JsonObject } {
  const { path, body } = call.request(question);
  if (body instanceof FormData) throw new Error(`${call.name} is no surface of the wall.`);
  return { path, body };
}

async function ask(options: {
  readonly url: string;
  readonly key: string;
  readonly body: JsonObject;
}): Promise<WallAnswer> {
  const response = await fetch(options.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${options.key}` },
    body: JSON.stringify(options.body),
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}
