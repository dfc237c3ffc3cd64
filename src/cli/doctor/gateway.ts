// What `isthmus doctor` asks a running gateway: who listens at its address, what needs attention, accounts, and names nobody serves.

import { type JsonObject, parseObject } from '../../lib/json.ts';
import {
  type AdminClient,
  encodePath,
  type GatewayFetch,
  UNKNOWN_AUTHORITY,
} from '../admin-client.ts';
import { whyUnreached } from '../exit-codes.ts';
import { objectOf, objectsOf, textOf, textsOf } from '../terminal.ts';
import { type Finding, findingsOf } from './findings.ts';

const PATIENCE_MS = 3_000;

type Listener = 'nobody' | 'isthmus' | 'untrusted' | 'other';

export async function findListener(
  url: string,
  fetch: GatewayFetch,
): Promise<{ readonly kind: Listener; readonly version?: string }> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(`${url}/health`, { redirect: 'manual', signal });
    const { status, version } = parseObject(await response.text());
    const isOurs = typeof status === 'string' && typeof version === 'string';
    return isOurs && response.headers.has('x-request-id')
      ? { kind: 'isthmus', version }
      : { kind: 'other' };
  } catch (error) {
    if (UNKNOWN_AUTHORITY.test(whyUnreached(error))) return { kind: 'untrusted' };
    const code = error instanceof Error && isCoded(error.cause) ? error.cause.code : '';
    // Somebody is there, but speaks no HTTP.
    const isRefused = /^(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(
      code,
    );
    return { kind: isRefused ? 'nobody' : 'other' };
  }
}

function isCoded(cause: unknown): cause is { readonly code: string } {
  return (
    typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string'
  );
}

interface AddressOptions {
  readonly url: string;
  readonly listener: Awaited<ReturnType<typeof findListener>>;
  /** Whether a gateway runs on the data folder. */
  readonly isClaimed: boolean;
  readonly version: string;
}

export function checkAddress({ url, listener, isClaimed, version }: AddressOptions): Finding {
  const { ok, info, warning, error } = findingsOf('address');
  const { port } = new URL(url);
  switch (listener.kind) {
    case 'isthmus':
      if (listener.version === version) return ok(`isthmus ${version} answers at ${url}.`);
      return info(`isthmus ${listener.version} answers at ${url}; this command is of ${version}.`);
    case 'untrusted':
      return error(
        `The certificate at ${url} is of no known authority.`,
        'Name a file with that of the authority with --ca.',
      );
    case 'other':
      return error(
        `Another program than isthmus listens at ${url}.`,
        `Stop it, or start the gateway with another --port; "ss -ltnp" or "lsof -i :${port}" shows which it is.`,
      );
    case 'nobody':
      return isClaimed
        ? warning(
            `A gateway runs on the data folder, but not at ${url}.`,
            'It was started with another --port or --host: name its address with --url.',
          )
        : info(`No gateway runs at ${url}.`, 'Start it with "isthmus serve".');
    default:
      return listener.kind satisfies never;
  }
}

/** What the overview of the console shows as needing attention. */
export function checkAttention(overview: JsonObject): readonly Finding[] {
  const { ok, ...make } = findingsOf('gateway');
  const entries = objectsOf(overview, 'attention').map((entry) => {
    const severity = textOf(entry, 'severity');
    const kind = severity === 'error' || severity === 'warning' ? severity : 'info';
    return make[kind](textOf(entry, 'message'), textOf(entry, 'wayOut'));
  });
  return entries.length === 0 ? [ok('Nothing needs attention.')] : entries;
}

const ACCOUNT_WAY_OUT =
  'If its key is refused, give it a new one, or sign it in again; if nothing answers, see the network, the address of the upstream and proxies.';

/** @param generate asks each for one token, which costs that; else credential, model list and quota alone are tried */
export async function checkAccounts(
  client: AdminClient,
  generate: boolean,
): Promise<readonly Finding[]> {
  const { ok, info, error } = findingsOf('accounts');
  const accounts = objectsOf(await client.call('GET', '/api/accounts'), 'accounts').filter(
    (account) => textOf(objectOf(account, 'status'), 'kind') !== 'disabled',
  );
  const findings: Finding[] = [];
  // One after the other: an upstream that is asked by all at once may refuse for that alone.
  for (const account of accounts) {
    const name = textOf(account, 'name');
    const path = `/api/accounts/${encodePath(textOf(account, 'id'))}/test`;
    const result = await client.call('POST', path, { generate });
    const bad = objectsOf(result, 'steps').find(({ isGood }) => isGood !== true);
    if (result.isUsable === true) {
      findings.push(ok(`${name} ${generate ? 'answers' : 'is accepted by its upstream'}.`));
    } else {
      const why = bad === undefined ? '' : `: ${textOf(bad, 'message')}`;
      const wayOut = textOf(objectOf(account, 'status'), 'wayOut');
      findings.push(error(`${name} cannot be used${why}`, wayOut || ACCOUNT_WAY_OUT));
    }
  }
  if (!generate && accounts.length > 0) {
    findings.push(
      info(
        'Whether they answer was not tried.',
        'Add --generate, which asks each for one token and costs that.',
      ),
    );
  }
  return findings;
}

/** Names that a mapping, or a key, leads nowhere. */
export async function checkNames(client: AdminClient): Promise<readonly Finding[]> {
  const { ok, warning } = findingsOf('models');
  const mapping = objectOf(await client.call('GET', '/api/config/mapping'), 'values');
  const findings: Finding[] = [];
  for (const [name, target] of Object.entries(mapping)) {
    const asked = name.includes('*') ? String(target) : name;
    if (asked.startsWith('@') || (await isServed(client, asked))) continue;
    findings.push(
      warning(
        `The mapping of ${name} leads to ${String(target)}, which nobody serves.`,
        'Correct it with the page Routing, or add an account that offers it.',
      ),
    );
  }
  for (const key of objectsOf(await client.call('GET', '/api/keys'), 'keys')) {
    for (const model of textsOf(key, 'allowedModels')) {
      if (model.includes('*') || (await isServed(client, model))) continue;
      const name = textOf(key, 'name');
      findings.push(
        warning(
          `The key ${name} allows ${model}, which nobody serves.`,
          `isthmus keys edit ${name} --allowed-models …`,
        ),
      );
    }
  }
  return findings.length === 0 ? [ok('Every name that is mapped or allowed is served.')] : findings;
}

/** Whether an account answers requests for a name. */
export async function isServed(client: AdminClient, name: string): Promise<boolean> {
  const route = await client.call('GET', `/api/route?model=${encodeURIComponent(name)}`);
  return route.servedAs !== null && textOf(route, 'error') === '';
}
