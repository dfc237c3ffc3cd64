// Starts an edge on a free loopback port, with fakes behind it.

import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import type { ListedModel } from '../canonical/model.ts';
import type { CallContext, GenerateAnswer } from '../dispatch/dispatcher.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import type { CountTokensCall, GenerateCall } from '../protocols/protocol.ts';
import { createResponseStores } from '../stored-responses/response-store.ts';
import type { AdminRoute } from './admin-route.ts';
import { createServer, type EdgeServer } from './create-server.ts';
import type { EdgeOptions } from './edge.ts';
import { fakeProtocols } from './fake-protocols.test-support.ts';
import { createBodyBudget } from './gates/body.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings, type Log } from './settings.ts';

interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface TestEdge {
  readonly server: EdgeServer;
  readonly url: string;
  readonly port: number;
  readonly lines: readonly LogLine[];
  /** Changes the live settings. */
  set(change: Partial<EdgeSettings>): void;
  /** Resolves with the log line of the next request that ends. */
  nextEnd(): Promise<LogLine>;
}

export type Generate = (call: GenerateCall, context: CallContext) => Promise<GenerateAnswer>;

export interface TestEdgeOptions {
  readonly adminRoutes?: readonly AdminRoute[];
  readonly access?: EdgeOptions['access'] | undefined;
  readonly consoleFiles?: EdgeOptions['consoleFiles'];
  readonly settings?: Partial<EdgeSettings>;
  readonly clock?: Clock;
  readonly memory?: Parameters<typeof createBodyBudget>[1];
  /** In place of the budget that `memory` gives. */
  readonly bodies?: EdgeOptions['bodies'];
  /** Its start is not done until `server.serve()` is called. */
  readonly isStarting?: boolean;
  readonly generate?: Generate;
  readonly countTokens?: (call: CountTokensCall) => Promise<number>;
}

const MODELS: readonly ListedModel[] = ['alpha-3-flash', 'org/large'].map((id) => ({
  id,
  displayName: id,
  description: '',
  createdAt: 1_763_600_000,
  inputTokenLimit: 1_000_000,
  outputTokenLimit: 64_000,
  supportsThinking: true,
  drawsImages: false,
  tasks: ['generate'],
}));

export async function startEdge(options: TestEdgeOptions = {}): Promise<TestEdge> {
  const clock = options.clock ?? createSystemClock();
  const { log, lines, nextEnd } = createLog();
  let settings: EdgeSettings = { ...DEFAULT_EDGE_SETTINGS, port: 0, ...options.settings };
  const server = createServer({
    protocols: fakeProtocols,
    dispatcher: createDispatcher(options),
    models: {
      list: async () => MODELS,
      get: async (id) => MODELS.find((model) => model.id === id),
      meant: () => undefined,
    },
    responseStores: createResponseStores({ clock, onFailure: () => undefined }),
    settings: () => settings,
    clock,
    log,
    adminRoutes: options.adminRoutes,
    bodies: options.bodies ?? createBodyBudget(clock, options.memory),
    access: options.access ?? (await loadMemoryAccess({ settings: () => settings, clock, log })),
    consoleFiles: options.consoleFiles,
    version: '9.9.9',
  });
  const { url, port } = await server.listen();
  if (options.isStarting !== true) server.serve();
  const set = (change: Partial<EdgeSettings>): void => {
    settings = { ...settings, ...change };
  };
  return { server, url, port, lines, set, nextEnd };
}

/** Chunks one by one, then the end. */
export async function* chunksOf(...chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}

function createDispatcher(options: TestEdgeOptions): EdgeOptions['dispatcher'] {
  return {
    generate:
      options.generate ??
      (async (call, context) => ({
        kind: 'reply',
        body: { model: call.model, protocol: call.protocol, client: context.clientKeyId },
      })),
    countTokens: async (call) => call.writeCount((await options.countTokens?.(call)) ?? 42),
    embed: async (call) => {
      const vector = { values: [0.6, 0.8], native: { values: [0.6, 0.8] } };
      const embeddings = call.inputs().map(() => vector);
      const body = call.writeEmbeddings({ embeddings, promptTokens: 7, nativeUsages: [] });
      return { kind: 'reply', body };
    },
  };
}

function createLog(): {
  log: Log;
  lines: readonly LogLine[];
  nextEnd(): Promise<LogLine>;
} {
  const lines: LogLine[] = [];
  const waiting: ((line: LogLine) => void)[] = [];
  const add = (line: LogLine): void => void lines.push(line);
  const write = (level: string) => (fields: object, message: string) =>
    add({ level, fields: { ...fields }, message });
  return {
    log: {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      request(level, fields) {
        const line = { level, fields: { ...fields }, message: 'request' };
        add(line);
        waiting.shift()?.(line);
      },
    },
    lines,
    nextEnd: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
