// One request and its answer: who may ask, which operation it is, and what is noted about it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../lib/json.ts';
import { authenticate, type SandboxAccount } from './accounts.ts';
import { countTokens } from './count-tokens.ts';
import { SandboxError } from './errors.ts';
import { type GenerateServices, generate, requireModel } from './generate.ts';
import { readJsonBody } from './http/read-body.ts';
import { requireLocalTool } from './http/require-local-tool.ts';
import { matchRoute, type Route } from './http/routes.ts';
import { sendJson } from './http/send-json.ts';
import { listModels } from './list-models.ts';
import { SANDBOX_MODELS, writeModel } from './models.ts';
import { writeFault } from './state/faults.ts';
import { writeQuota } from './state/quota-counters.ts';
import type { Ending, RequestLog } from './state/request-log.ts';

export interface SandboxServices extends GenerateServices {
  readonly accounts: readonly SandboxAccount[];
  readonly log: RequestLog;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

type ModelRoute = Extract<Route, { readonly kind: 'generate' | 'count-tokens' }>;
type LookupRoute = Extract<Route, { readonly kind: 'get-model' | 'list-models' | 'quota' }>;
type ControlRoute = Exclude<Route, ModelRoute | LookupRoute>;

/** @throws SandboxError until the answer has begun. */
export async function answerExchange(exchange: Exchange, services: SandboxServices): Promise<void> {
  const { request, response, url } = exchange;
  const route = matchRoute(request.method ?? 'GET', url);
  switch (route.kind) {
    case 'generate':
    case 'count-tokens':
      await answerModelCall(route, exchange, services);
      return;
    case 'get-model':
    case 'list-models':
    case 'quota':
      sendJson(response, 200, writeLookup(route, exchange, services));
      return;
    default:
      requireLocalTool(request);
      sendJson(response, 200, await control(route, request, services));
  }
}

export function toSandboxError(error: unknown): SandboxError {
  return error instanceof SandboxError
    ? error
    : new SandboxError(500, 'The sandbox itself failed.');
}

async function answerModelCall(
  route: ModelRoute,
  { request, response, url, signal }: Exchange,
  services: SandboxServices,
): Promise<void> {
  const account = authenticate(services.accounts, request.headers, url);
  const { text, value } = await readJsonBody(request);
  const note = services.log.add({
    time: new Date(services.clock.now()).toISOString(),
    account: account.email,
    path: url.pathname,
    body: text,
  });
  try {
    let ended: Ending = 'complete';
    if (route.kind === 'count-tokens') {
      sendJson(response, 200, countTokens(value, account, route.modelId));
    } else {
      const { modelId, delivery } = route;
      ended = await generate(
        { account, modelId, delivery, body: value, signal, response },
        services,
      );
    }
    note({ status: 200, ended });
  } catch (error) {
    const ended = signal.aborted ? 'client-gone' : 'complete';
    note({ status: toSandboxError(error).status, ended });
    throw error;
  }
}

function writeLookup(
  route: LookupRoute,
  { request, url }: Exchange,
  { accounts, quotas }: SandboxServices,
): JsonObject {
  const account = authenticate(accounts, request.headers, url);
  switch (route.kind) {
    case 'get-model':
      return writeModel(requireModel(route.modelId));
    case 'list-models':
      return listModels(url.searchParams);
    case 'quota':
      return writeQuota(
        account,
        SANDBOX_MODELS.map(({ id }) => id),
        quotas,
      );
    default:
      return route satisfies never;
  }
}

async function control(
  route: ControlRoute,
  request: IncomingMessage,
  { faults, log }: SandboxServices,
): Promise<JsonObject> {
  switch (route.kind) {
    case 'add-fault':
      return writeFault(faults.add((await readJsonBody(request)).value));
    case 'clear-faults':
      faults.clear();
      return { faults: [] };
    case 'list-faults':
      return { faults: faults.list().map(writeFault) };
    case 'list-requests':
      return { requests: [...log.list()] };
    default:
      return route satisfies never;
  }
}
