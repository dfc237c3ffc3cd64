// An upstream on loopback whose every answer a test decides: model calls and the token endpoint.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { serveOnLoopback } from './loopback.ts';

/** One model call; `account` is what its credential names. */
export interface ScriptedCall {
  readonly account: string;
  readonly model: string;
  readonly stream: boolean;
  readonly body: JsonObject;
  /** The credential as it came. */
  readonly credential: string;
}

export type ScriptedReply =
  | { readonly kind: 'answer'; readonly words?: readonly string[]; readonly finish?: string }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON, a text as it is. */
      readonly body?: JsonObject | string;
      readonly type?: string;
    }
  /** 200 with these bodies: events of a stream, or the first one as the whole answer. */
  | {
      readonly kind: 'frames';
      readonly frames: readonly (JsonObject | string)[];
      readonly cut?: 'reset' | 'end';
    }
  /** The connection ends before any byte of an answer. */
  | { readonly kind: 'hang-up' }
  /** A good stream with a pause before each word but the first. */
  | { readonly kind: 'paced'; readonly words: number; readonly everyMs: number }
  /** Nothing, or these bodies and then nothing, while the connection stays open. */
  | { readonly kind: 'silence'; readonly frames?: readonly JsonObject[] };

export interface ScriptedUpstream {
  readonly url: string;
  /** The model calls so far, oldest first. */
  readonly calls: readonly ScriptedCall[];
  /** Model calls whose answer has neither ended nor been cut off. */
  readonly open: () => number;
  /** How often model lists were read. */
  readonly lists: () => number;
  /** How often each account's token was asked for. */
  readonly renewals: ReadonlyMap<string, number>;
  /** Decides the next answers; the defaults answer well. */
  script(change: Script): void;
  close(): Promise<void>;
}

interface Script {
  /** `nth` counts the calls of the account since the script was set, from 1. */
  model?(call: ScriptedCall, nth: number): ScriptedReply | undefined;
  /** What the token endpoint says of the account's refresh token. */
  token?(account: string, nth: number): ScriptedReply | undefined;
}

const MODELS = ['alpha-3-flash', 'beta-sonnet-4-6', 'alpha-2.5-pro'];

/** Keys are `key.<account>`, refresh tokens `refresh.<account>.<n>`, access tokens `access.<account>.<n>`. */
export async function startScriptedUpstream(
  models: readonly string[] = MODELS,
): Promise<ScriptedUpstream> {
  const calls: ScriptedCall[] = [];
  const renewals = new Map<string, number>();
  let lists = 0;
  let open = 0;
  let script: Script = {};
  let seen = new Map<string, number>();
  const count = (key: string): number => {
    const next = (seen.get(key) ?? 0) + 1;
    seen.set(key, next);
    return next;
  };
  const answerToken = (form: URLSearchParams): ScriptedReply => {
    const account = nameIn(form.get('refresh_token') ?? '');
    const total = (renewals.get(account) ?? 0) + 1;
    renewals.set(account, total);
    const scripted = script.token?.(account, count(`token ${account}`));
    if (scripted !== undefined) return scripted;
    const access_token = `access.${account}.${total}`;
    const body = { access_token, token_type: 'Bearer', expires_in: 3600 };
    return { kind: 'status', status: 200, body };
  };
  const answerModel = (call: ScriptedCall): ScriptedReply => {
    calls.push(call);
    return script.model?.(call, count(`model ${call.account}`)) ?? { kind: 'answer' };
  };
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const path = request.url ?? '';
      if (path === '/token') return send(response, answerToken(new URLSearchParams(text)), false);
      const match = /\/models\/([^:?]+):(?:(stream)?generateContent|countTokens)/i.exec(path);
      if (match === null && path.includes('/models')) {
        lists += 1;
        return send(response, { kind: 'status', status: 200, body: listOf(models) }, false);
      }
      if (match === null) return send(response, { kind: 'status', status: 404 }, false);
      const credential = credentialOf(request);
      const body = parseJson(text);
      const stream = match[2] !== undefined;
      const call = {
        account: nameIn(credential),
        model: decodeURIComponent(match[1] ?? ''),
        stream,
        body: isJsonObject(body) ? body : {},
        credential,
      };
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
      return send(response, answerModel(call), stream);
    });
  });
  const { url, close } = await serveOnLoopback(server);
  return {
    url,
    calls,
    renewals,
    open: () => open,
    lists: () => lists,
    script(change) {
      script = change;
      seen = new Map();
      calls.length = 0;
    },
    close,
  };
}

/** `{error:{code, message, status, details}}`, as this wire has it. */
export function errorBody(
  code: number,
  message: string,
  details: readonly JsonObject[] = [],
): JsonObject {
  return { error: { code, message, details: [...details] } };
}

export function frameOf(text: string, finishReason?: string): JsonObject {
  const parts: JsonValue[] = text === '' ? [] : [{ text }];
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts },
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    modelVersion: 'scripted',
    responseId: 'one',
  };
}

function send(response: ServerResponse, reply: ScriptedReply, stream: boolean): void {
  switch (reply.kind) {
    case 'hang-up':
      response.destroy();
      return;
    case 'status': {
      const { status, headers = {}, body = '', type } = reply;
      const isText = typeof body === 'string';
      const contentType = type ?? (isText ? 'text/plain' : 'application/json');
      response.writeHead(status, { 'content-type': contentType, ...headers });
      response.end(isText ? body : JSON.stringify(body));
      return;
    }
    case 'answer': {
      const { words = ['Good ', 'answer.'], finish = 'STOP' } = reply;
      const frames = stream
        ? words.map((word, at) => frameOf(word, at === words.length - 1 ? finish : undefined))
        : [frameOf(words.join(''), finish)];
      sendFrames(response, { kind: 'frames', frames }, stream);
      return;
    }
    case 'frames':
      sendFrames(response, reply, stream);
      return;
    case 'paced':
      sendPaced(response, reply);
      return;
    case 'silence':
      if (reply.frames === undefined) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of reply.frames) response.write(`data: ${JSON.stringify(frame)}\n\n`);
      return;
    default:
      reply satisfies never;
  }
}

function sendPaced(
  response: ServerResponse,
  { words, everyMs }: Extract<ScriptedReply, { kind: 'paced' }>,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const sendOne = (): void => {
    sent += 1;
    const frame = frameOf(`word ${sent} `, sent === words ? 'STOP' : undefined);
    response.write(`data: ${JSON.stringify(frame)}\n\n`);
    if (sent < words) return;
    clearInterval(timer);
    response.end();
  };
  const timer = setInterval(sendOne, everyMs);
  response.once('close', () => clearInterval(timer));
  sendOne();
}

function sendFrames(
  response: ServerResponse,
  { frames, cut }: Extract<ScriptedReply, { kind: 'frames' }>,
  stream: boolean,
): void {
  const texts = frames.map((frame) => (typeof frame === 'string' ? frame : JSON.stringify(frame)));
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  const text = stream ? texts.map((one) => `data: ${one}\n\n`).join('') : (texts[0] ?? '');
  if (cut === undefined) {
    response.end(text);
    return;
  }
  const part = stream ? text : text.slice(0, Math.floor(text.length / 2));
  if (cut === 'end') response.end(part);
  else response.write(part === '' ? ' ' : part, () => response.socket?.resetAndDestroy());
}

function credentialOf({ headers }: IncomingMessage): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** The second word of a credential. */
function nameIn(credential: string): string {
  return credential.split('.')[1] ?? '';
}

function listOf(ids: readonly string[]): JsonObject {
  return {
    models: ids.map((id) => ({
      name: `models/${id}`,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      inputTokenLimit: 1_000_000,
      outputTokenLimit: 65_536,
    })),
  };
}
