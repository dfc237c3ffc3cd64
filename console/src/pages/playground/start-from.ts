// What the playground begins with where a recorded request is opened in it.

import type { RequestDetail } from '../../../../src/admin/contract.ts';
import { type ReadRequest, readRequest } from '../../wire/read-request.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import type { Turn } from '../../wire/write-request.ts';
import type { KeptDraft } from './draft-store.ts';

export interface Start extends KeptDraft {
  /** The message, or the results of tools, that wait to be sent. */
  readonly next?: Turn;
  /** Not all of the request was recorded, or is of a kind that the playground has no field for. */
  readonly isInPart?: boolean;
}

type Recorded = Pick<RequestDetail, 'protocol' | 'surface' | 'model' | 'clientRequest'>;

/** The last message is left to be sent; what came before it was said. */
export function startFrom(request: Recorded): Start {
  const { protocol, model, clientRequest } = request;
  const spoken = protocolOf(request);
  const read: ReadRequest | undefined =
    spoken === undefined || clientRequest === undefined
      ? undefined
      : readRequest(spoken, model, clientRequest.text);
  if (read === undefined) {
    const known = spoken === undefined ? {} : { protocol: spoken };
    return { draft: { ...known, model }, turns: [], isInPart: protocol !== '' };
  }
  const last = read.turns.at(-1);
  const isNext = last?.role === 'user';
  return {
    draft: read.draft,
    turns: isNext ? read.turns.slice(0, -1) : read.turns,
    tools: read.tools,
    ...(isNext ? { next: last } : {}),
    isInPart: clientRequest?.isWhole === false,
  };
}

function protocolOf({ protocol, surface }: Recorded): Exclude<WireProtocol, 'images'> | undefined {
  if (surface.startsWith('responses')) return 'responses';
  if (protocol === 'chat' || protocol === 'messages' || protocol === 'generate') return protocol;
  return undefined;
}
