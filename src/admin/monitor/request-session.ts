// `GET /api/request-session`: one run of an agent: its calls, what they come to, its account, its tools in order.

import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, ToolResultPart } from '../../canonical/request.ts';
import { namesOfRecorded } from '../../canonical/session-name.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { COUNT, named, object, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { REQUEST_ROW_SCHEMA, type RequestRecord } from '../../monitor/record.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';
import { orNull, TIME } from '../schemas.ts';
import { BOUND_SESSION_SCHEMA, writeBoundSession } from '../sessions.ts';
import { judgeReplay, maySeeBodies } from './requests.ts';

const NAMED_COUNTS = { type: 'array', items: object({ name: TEXT, count: COUNT }) } as const;

export const REQUEST_SESSION_SCHEMA = named('RequestSession', {
  session: TEXT,
  ...{ requests: COUNT, errors: COUNT, firstAt: TIME, lastAt: TIME },
  ...{ inputTokens: COUNT, outputTokens: COUNT, cachedTokens: COUNT, cacheWriteTokens: COUNT },
  ...{ thoughtTokens: COUNT, images: COUNT, pricedRequests: COUNT },
  ...{ costNanos: COUNT, flatRateNanos: COUNT, cacheSavingsNanos: { type: 'integer' } },
  ...{ models: NAMED_COUNTS, accounts: NAMED_COUNTS },
  binding: {
    ...orNull(BOUND_SESSION_SCHEMA),
    description: 'The account its next call goes to; null where none is kept for it.',
  },
  calls: {
    type: 'array',
    items: REQUEST_ROW_SCHEMA,
    description: 'The latest 200, the oldest of them first.',
  },
  tools: {
    type: 'array',
    description:
      'The calls of tools in order, as far as the latest request that was kept whole tells of them; up to 200. None for who may see no bodies.',
    items: object({
      id: TEXT,
      name: TEXT,
      arguments: { ...TEXT, description: 'JSON.' },
      result: optional({ ...TEXT, description: 'Absent while there is none.' }),
      isError: optional({ type: 'boolean' }),
    }),
  },
});

const MAX_CALLS = 200;
const MAX_TOOLS = 200;
const MAX_CHARACTERS = 2000;
/** The latest calls of which one may be kept whole. */
const MAX_LOOKED_AT = 10;

type Options = Pick<
  MonitorRouteOptions,
  'monitor' | 'requestFigures' | 'pool' | 'book' | 'protocols'
>;

export function createRequestSessionRoute(options: Options): ApiRoute {
  const { monitor, requestFigures, pool, book } = options;
  return defineRoute({
    at: 'GET /api/request-session',
    access: 'viewer',
    title: 'shows one session: its calls, its account and its tools',
    query: {
      ...partial({ session: { ...TEXT, minLength: 1, maxLength: 320 } }),
      required: ['session'],
    },
    answers: { 200: { description: 'The session.', schema: REQUEST_SESSION_SCHEMA } },
    async run({ query: { session = '' }, caller }) {
      const sum = await requestFigures.session(session);
      if (sum === undefined) {
        return refuseUnknown(
          told`There is no request of this session. They may have been removed by their age.`,
        );
      }
      const { keyIds, ...shown } = sum;
      const filter = { session };
      const page = { limit: MAX_CALLS, isCounted: false };
      const { rows } = await monitor.store.list(filter, page);
      const bound = keyIds
        .flatMap((clientKeyId) =>
          namesOfRecorded(session).map((name) =>
            pool.sessions.bound({ clientKeyId, session: name }),
          ),
        )
        .find((one) => one !== undefined);
      return answerJson({
        session,
        ...shown,
        binding: bound === undefined ? null : writeBoundSession(bound, book),
        calls: rows.toReversed(),
        tools: maySeeBodies(caller)
          ? await findTools(
              rows.slice(0, MAX_LOOKED_AT).map(({ id }) => id),
              options,
            )
          : [],
      });
    },
  });
}

interface ToolStep {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  result?: string;
  isError?: boolean;
}

/** An agent sends its conversation with each call: the latest one tells of all tools before. */
async function findTools(
  ids: readonly string[],
  { monitor, protocols }: Options,
): Promise<readonly ToolStep[]> {
  for (const id of ids) {
    const record = await monitor.find(id);
    if (record === undefined) continue;
    const asked = readAgain(record, protocols);
    if (asked !== undefined) return toolsOf(asked, record).slice(-MAX_TOOLS);
  }
  return [];
}

/** Undefined of what was not kept whole, or asked for no answer. */
function readAgain(
  record: RequestRecord,
  protocols: Options['protocols'],
): CanonicalRequest | undefined {
  const { found } = judgeReplay(record, protocols);
  if (found === undefined) return undefined;
  const body = parseJson(record.bodies?.clientRequest?.text ?? '');
  if (!isJsonObject(body)) return undefined;
  const { pathModel } = record.details;
  const receipt = createReceipt();
  const query = new URLSearchParams();
  try {
    return found.route.readCall({ pathModel, query, headers: {}, body, receipt }).request;
  } catch {
    // It was refused when it came, too: its record says why.
    return undefined;
  }
}

function toolsOf(asked: CanonicalRequest, { bodies }: RequestRecord): readonly ToolStep[] {
  const steps = new Map<string, ToolStep>();
  for (const part of asked.turns.flatMap((turn) => turn.parts)) {
    if (part.kind === 'tool-call') {
      const { id, name, input } = part;
      steps.set(id, { id, name, arguments: cut(JSON.stringify(input)) });
    } else if (part.kind === 'tool-result') {
      const step = steps.get(part.callId);
      if (step === undefined) continue;
      step.result = cut(wordsOf(part));
      if (part.isError) step.isError = true;
    }
  }
  for (const block of bodies?.response?.blocks ?? []) {
    if (block.kind !== 'tool-call') continue;
    const { id, name } = block;
    steps.set(id, { id, name, arguments: cut(block.arguments) });
  }
  return [...steps.values()];
}

function wordsOf({ content }: ToolResultPart): string {
  return content
    .map((one) => {
      if (one.kind === 'text') return one.text;
      return one.kind === 'json' ? JSON.stringify(one.value) : `[${one.mediaType ?? one.modality}]`;
    })
    .join('\n');
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
