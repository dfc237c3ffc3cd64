// Scripted faults: what the next answers shall suffer, set over `/sandbox/faults`.

import { badRequest, type Violation } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../json.ts';

export interface Fault {
  /** Which calls; `generate` unless given. */
  readonly endpoint?: FaultEndpoint;
  /** Only calls of this account's e-mail. */
  readonly account?: string;
  /** Only calls of this model id. */
  readonly model?: string;
  /** OAuth error code of the token endpoint, such as `invalid_grant`; with 400 unless `status` is given. */
  readonly error?: string;
  /** Answer with this HTTP error; with `errorAfterEvents`, the code of the error inside the stream. */
  readonly status?: number;
  /** `ErrorInfo.reason` of that error, such as `RATE_LIMIT_EXCEEDED`. */
  readonly reason?: string;
  readonly message?: string;
  /** `RetryInfo.retryDelay` of that error, such as `12s`. */
  readonly retryDelay?: string;
  /** Wait before the response headers. */
  readonly delayMs?: number;
  /** Wait before every stream event. */
  readonly pauseMs?: number;
  /** Break off after that many events (a unary answer is one event). */
  readonly cutAfterEvents?: number;
  /** Break off after that many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** How a cut looks: the connection dies, or the body ends as if it were complete. */
  readonly cutKind?: CutKind;
  /** Send an error event after that many events and end. */
  readonly errorAfterEvents?: number;
  /** That error comes as bare JSON without `data:`, as the real service sometimes does. */
  readonly rawError?: boolean;
  /** A line of broken JSON behind the first event; a unary answer is no JSON at all. */
  readonly garbage?: boolean;
  /** 200 without a single event; a unary answer has no candidate. */
  readonly emptyStream?: boolean;
}

type FaultEndpoint = 'generate' | 'count-tokens' | 'embed' | 'models' | 'quota' | 'token';

export type CutKind = 'reset' | 'end';

export interface ScriptedFault extends Fault {
  readonly id: number;
  /** Calls it still applies to. */
  readonly remaining: number;
}

export interface Faults {
  /** @throws SandboxError 400 naming every field that is unknown or wrong. */
  add(body: JsonValue): ScriptedFault;
  list(): readonly ScriptedFault[];
  clear(): void;
  /** The oldest fault for this call, counted down; undefined when none applies. */
  take(call: FaultyCall): Fault | undefined;
}

export interface FaultyCall {
  readonly endpoint: FaultEndpoint;
  /** E-mail of the caller; undefined when it is not known. */
  readonly account: string | undefined;
  /** Every id the model of the call goes by. */
  readonly models: readonly string[];
}

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const isBetween =
  (from: number, to: number): Check =>
  (value) => {
    const number = readNumber(value);
    return number !== undefined && Number.isInteger(number) && number >= from && number <= to;
  };
const isCount = isBetween(0, 1e9);
const isDelay = isBetween(0, 600_000);

/** What each endpoint can suffer beside `generate`, which knows every field but `error`. */
const FIELDS_ELSEWHERE: Readonly<Record<Exclude<FaultEndpoint, 'generate'>, readonly string[]>> = {
  'count-tokens': ['model', 'status', 'reason', 'message', 'retryDelay', 'delayMs'],
  embed: ['model', 'status', 'reason', 'message', 'retryDelay', 'delayMs'],
  models: ['status', 'reason', 'message', 'retryDelay', 'delayMs'],
  quota: ['status', 'reason', 'message', 'retryDelay', 'delayMs'],
  token: ['status', 'error', 'message', 'retryDelay', 'delayMs', 'cutAfterBytes', 'garbage'],
};
const FIELDS_EVERYWHERE = ['endpoint', 'account', 'count'];

const CHECKS: Readonly<Record<keyof Fault | 'count', Check>> = {
  endpoint: (value) =>
    value === 'generate' || (typeof value === 'string' && Object.hasOwn(FIELDS_ELSEWHERE, value)),
  error: isText,
  account: isText,
  model: isText,
  status: isBetween(400, 599),
  reason: isText,
  message: isText,
  retryDelay: isText,
  delayMs: isDelay,
  pauseMs: isDelay,
  cutAfterEvents: isCount,
  cutAfterBytes: isCount,
  cutKind: (value) => value === 'reset' || value === 'end',
  errorAfterEvents: isCount,
  rawError: isFlag,
  garbage: isFlag,
  emptyStream: isFlag,
  count: isBetween(1, 1e9),
};
const CHECK_BY_NAME = new Map<string, Check>(Object.entries(CHECKS));

export function createFaults(): Faults {
  let faults: readonly ScriptedFault[] = [];
  let lastId = 0;
  return {
    add(body) {
      const { count, fault } = readFault(body);
      lastId += 1;
      const scripted = { ...fault, id: lastId, remaining: count };
      faults = [...faults, scripted];
      return scripted;
    },
    list: () => faults,
    clear() {
      faults = [];
    },
    take(call) {
      const taken = faults.find(
        ({ endpoint = 'generate', account = call.account, model }) =>
          endpoint === call.endpoint &&
          account === call.account &&
          (model === undefined || call.models.includes(model)),
      );
      faults = faults.flatMap((fault) => (fault === taken ? countDown(fault) : fault));
      return taken;
    },
  };
}

export function writeFault(fault: ScriptedFault): JsonObject {
  return { ...fault };
}

function countDown(fault: ScriptedFault): ScriptedFault[] {
  return fault.remaining > 1 ? [{ ...fault, remaining: fault.remaining - 1 }] : [];
}

function readFault(body: JsonValue): { readonly count: number; readonly fault: Fault } {
  if (!isJsonObject(body)) throw badRequest([{ field: '', description: 'must be a JSON object' }]);
  const violations: Violation[] = [];
  for (const [field, value] of Object.entries(body)) {
    const check = CHECK_BY_NAME.get(field);
    if (check === undefined) violations.push({ field, description: 'is not a field of a fault' });
    else if (!check(value)) violations.push({ field, description: 'has no acceptable value' });
    else if (!suits(body.endpoint, field)) {
      violations.push({ field, description: 'is not something this endpoint can suffer' });
    }
  }
  if (violations.length > 0) throw badRequest(violations);
  const { count, ...fault } = body;
  // The one narrowing: every field was just checked against the table of the interface's own keys.
  return { count: readNumber(count) ?? 1, fault: fault as Fault };
}

function suits(endpoint: JsonValue = 'generate', field: string): boolean {
  if (endpoint === 'generate') return field !== 'error';
  const fields = new Map(Object.entries(FIELDS_ELSEWHERE)).get(String(endpoint)) ?? [];
  return FIELDS_EVERYWHERE.includes(field) || fields.includes(field);
}
