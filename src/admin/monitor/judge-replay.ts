// Whether a recorded request can be sent again: asked before anybody tries, and when somebody does.

import { GatewayError } from '../../canonical/error.ts';
import { told } from '../../lib/told.ts';
import type { RequestRecord } from '../../monitor/request-record.ts';
import type { ClientProtocol, ProtocolRoute } from '../../protocols/protocol.ts';
import type { MonitorRouteOptions } from './options.ts';

export const REPLAY_VERDICTS = [
  'possible',
  'other-operation',
  'not-kept',
  'unread',
  'in-part',
] as const;

export type ReplayVerdict = (typeof REPLAY_VERDICTS)[number];

export type GenerateRoute = Extract<ProtocolRoute, { operation: 'generate' }>;

export interface JudgedReplay {
  readonly replay: ReplayVerdict;
  /** Where it goes, when it can be sent again. */
  readonly found?: { readonly route: GenerateRoute; readonly protocol: ClientProtocol };
}

export function judgeReplay(
  { details, bodies }: RequestRecord,
  protocols: MonitorRouteOptions['protocols'],
): JudgedReplay {
  const found = findRoute(protocols, details.route);
  if (found === undefined) return { replay: 'other-operation' };
  if (bodies === undefined) return { replay: 'not-kept' };
  if (bodies.clientRequest === undefined) return { replay: 'unread' };
  return bodies.clientRequest.isWhole ? { replay: 'possible', found } : { replay: 'in-part' };
}

const REASONS: Readonly<Record<ReplayVerdict, string>> = {
  possible: '',
  'other-operation': told`Only requests for answers can be sent again; this one asked for something else.`,
  'not-kept': told`The body of this request was not kept. Turn on proxy.monitor.bodies, then let the client send it again.`,
  unread: told`The body of this request could not be read, so that there is nothing to send again.`,
  'in-part': told`The body of this request is kept in part only, because it is long, holds media or held a credential.`,
};

export function cannotReplay(verdict: ReplayVerdict): GatewayError {
  const message = REASONS[verdict];
  return new GatewayError({ kind: 'invalid-request', source: 'client', field: 'id', message });
}

function findRoute(
  protocols: MonitorRouteOptions['protocols'],
  path: string,
): JudgedReplay['found'] {
  for (const protocol of Object.values(protocols.byName)) {
    for (const route of protocol.routes) {
      if (route.path === path && route.operation === 'generate') return { route, protocol };
    }
  }
  return undefined;
}
