// Tells the audit log of each change that a route of the admin API made: what its own view showed before and after.

import type { AuditActor, Change } from '../access/audit-log.ts';
import { GatewayError } from '../canonical/error.ts';
import type { JsonValue } from '../lib/json.ts';
import { fieldNames } from '../lib/json-difference.ts';
import type { AdminAnswer, AdminInput, AdminRoute } from './admin-route.ts';
import type { Exchange } from './edge.ts';

/** Who makes a change. */
export interface Author {
  readonly actor: AuditActor;
  /** Tells the signed-in browsers apart. */
  readonly session?: string | undefined;
  /** The name of who signed in as a person. */
  readonly person?: string | undefined;
}

/** Whether a route is told of in the audit log: all but those that read, unless it says otherwise. */
function isAudited({ method, changes }: AdminRoute): boolean {
  return changes ?? method !== 'GET';
}

/** Runs a route. A change that was refused is none, and what only reads is not told of. */
export async function runAudited(
  exchange: Exchange,
  route: AdminRoute,
  { input, author }: { readonly input: AdminInput; readonly author: Author },
): Promise<AdminAnswer> {
  if (!isAudited(route) || input.isHead) return route.run(input);
  const before = await readView(exchange, route, input);
  const answer = await route.run(input);
  const status = statusOf(answer);
  if (status >= 400) return answer;
  const after = await readView(exchange, route, input);
  // Whoever comes to a public page without what it asks for has changed nothing.
  if (route.access === 'public' && JSON.stringify(before) === JSON.stringify(after)) return answer;
  const change: Change = {
    ...{ actor: author.actor, session: author.session, person: author.person },
    address: input.caller.address,
    action: `${route.method} ${route.path}`,
    subject: exchange.path,
    requestId: input.requestId,
    status,
    fields: fieldNames(input.body),
    before,
    after,
  };
  await exchange.edge.access.audit.add(change);
  return answer;
}

function statusOf(answer: AdminAnswer): number {
  if (answer.kind === 'json') return answer.status;
  if (answer.kind === 'empty') return 204;
  return answer.kind === 'redirect' ? 303 : 200;
}

/** What the admin API shows of what the route changes; answers of reading routes hold no secrets. */
async function readView(
  { edge, path }: Exchange,
  { shows }: AdminRoute,
  input: AdminInput,
): Promise<JsonValue | undefined> {
  if (shows === 'nothing') return undefined;
  const at = shows?.replace(/\{\w+\}/, () => input.parameter) ?? path;
  const match = edge.routes.match('GET', at);
  if (match.kind !== 'route' || match.route.kind !== 'admin') return undefined;
  try {
    const { parameter } = match;
    const nothing = { body: undefined, ifMatch: undefined, query: new URLSearchParams() };
    const answer = await match.route.route.run({ ...input, ...nothing, parameter });
    return answer.kind === 'json' && answer.status === 200 ? answer.body : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
