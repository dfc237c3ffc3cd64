// One request and its answer: who may ask, which operation it is, and what is noted about it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SandboxAccount } from './accounts.ts';
import {
  addServiceAccount,
  changeAccount,
  listAccounts,
  revokeAccount,
} from './controls/accounts.ts';
import { readQuotas, setQuotas } from './controls/quota.ts';
import { countTokens } from './count-tokens.ts';
import { embed } from './embed.ts';
import { SandboxError } from './errors.ts';
import { type GenerateServices, generate, requireModel } from './generate.ts';
import { authenticate } from './http/authenticate.ts';
import { writeScriptedError } from './http/frames.ts';
import { readJsonBody } from './http/read-body.ts';
import { requireLocalTool } from './http/require-local-tool.ts';
import { matchRoute, type Route } from './http/routes.ts';
import { sendJson } from './http/send-json.ts';
import type { JsonObject } from './json.ts';
import { listModels } from './list-models.ts';
import { ownIdOf, SANDBOX_MODELS, writeModel, writePublisherModels } from './models.ts';
import { answerOAuth } from './oauth/answer-oauth.ts';
import type { OAuthServices } from './oauth/oauth-services.ts';
import { type FaultyCall, writeFault } from './state/faults.ts';
import { type Member, requireStanding } from './state/members.ts';
import { writeQuota } from './state/quota-counters.ts';
import type { Ending, RequestLog } from './state/request-log.ts';

export interface SandboxServices extends GenerateServices, OAuthServices {
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

type ModelRoute = Extract<Route, { readonly kind: 'generate' | 'count-tokens' | 'embed' }>;
type LookupKind = 'get-model' | 'list-models' | 'list-publisher-models' | 'quota';
type LookupRoute = Extract<Route, { readonly kind: LookupKind }>;
type OAuthRoute = Extract<Route, { readonly kind: 'oauth' }>;
type ControlRoute = Exclude<Route, ModelRoute | LookupRoute | OAuthRoute>;

/** @throws SandboxError until the answer has begun. */
export async function answerExchange(exchange: Exchange, services: SandboxServices): Promise<void> {
  const { request, response, url } = exchange;
  const route = matchRoute(request.method ?? 'GET', url);
  switch (route.kind) {
    case 'generate':
    case 'count-tokens':
    case 'embed':
      await answerModelCall(route, exchange, services);
      return;
    case 'get-model':
    case 'list-models':
    case 'list-publisher-models':
    case 'quota':
      sendJson(response, 200, await lookUp(route, exchange, services));
      return;
    case 'oauth':
      await answerOAuth(route.operation, exchange, services);
      return;
    default:
      requireLocalTool(request);
      sendJson(response, 200, await control(route, exchange, services));
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
  const account = authenticate(request, url, services);
  const { text, value } = await readJsonBody(request);
  const note = services.log.add({
    time: new Date(services.clock.now()).toISOString(),
    account: account.email,
    path: url.pathname,
    body: text,
  });
  try {
    let ended: Ending = 'complete';
    const { address } = route;
    requireStanding(account, address.modelId);
    if (route.kind === 'count-tokens') {
      const body = countTokens(value, account, address);
      const models = [address.modelId, ownIdOf(address.modelId)];
      await suffer({ endpoint: 'count-tokens', account: account.email, models }, services, signal);
      sendJson(response, 200, body);
    } else if (route.kind === 'embed') {
      const { isBatch } = route;
      sendJson(
        response,
        200,
        await embed({ account, address, isBatch, body: value, signal }, services),
      );
    } else {
      const { delivery } = route;
      ended = await generate(
        { account, address, delivery, body: value, signal, response },
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

async function lookUp(
  route: LookupRoute,
  { request, url, signal }: Exchange,
  services: SandboxServices,
): Promise<JsonObject> {
  const account = authenticate(request, url, services);
  requireStanding(account);
  const endpoint = route.kind === 'quota' ? 'quota' : 'models';
  await suffer({ endpoint, account: account.email, models: [] }, services, signal);
  return writeLookup(route, { account, query: url.searchParams }, services);
}

/** @throws SandboxError of a scripted fault for this call, after its delay. */
async function suffer(
  call: FaultyCall,
  { faults, clock }: SandboxServices,
  signal: AbortSignal,
): Promise<void> {
  const fault = faults.take(call) ?? {};
  if (fault.delayMs !== undefined) await clock.sleep(fault.delayMs, signal);
  if (fault.status !== undefined) throw writeScriptedError(fault.status, fault);
}

function writeLookup(
  route: LookupRoute,
  { account, query }: { readonly account: Member; readonly query: URLSearchParams },
  { quotas }: SandboxServices,
): JsonObject {
  switch (route.kind) {
    case 'get-model':
      return writeModel(requireModel({ modelId: route.modelId, place: undefined }));
    case 'list-models':
      return listModels(query);
    case 'list-publisher-models':
      return writePublisherModels();
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
  { request, url }: Exchange,
  services: SandboxServices,
): Promise<JsonObject> {
  const { faults, log } = services;
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
    case 'list-accounts':
      return listAccounts(services);
    case 'change-account':
      return changeAccount(route.email, (await readJsonBody(request)).value, services);
    case 'revoke-account':
      return revokeAccount(route.email, services);
    case 'add-service-account':
      return addServiceAccount((await readJsonBody(request)).value, services);
    case 'read-quota':
      return readQuotas(url.searchParams, services);
    case 'set-quota':
      return setQuotas((await readJsonBody(request)).value, services);
    default:
      return route satisfies never;
  }
}
