// Answers with a file of the console, or with its page where a browser asks for a path of its own.

import { baseHeaders } from './answer-headers.ts';
import type { ConsoleFile } from './console-files.ts';
import type { Edge, Exchange } from './edge.ts';
import { endAnswer } from './end-answer.ts';
import { acceptsCoding } from './headers.ts';
import type { RouteMatch } from './routes.ts';

const CODINGS = ['br', 'gzip'] as const;
/** One year, the longest that means anything (RFC 9111). */
const FOREVER = 'public, max-age=31536000, immutable';

/** What every page and file of the console is sent with. */
const GUARDS = [
  ...['referrer-policy', 'no-referrer', 'x-frame-options', 'DENY'],
  ...['cross-origin-opener-policy', 'same-origin', 'cross-origin-resource-policy', 'same-origin'],
] as const;

/** False when the request is not for the console. */
export function answerConsoleFile(
  edge: Edge,
  exchange: Exchange,
  match: Exclude<RouteMatch, { kind: 'route' }>,
): boolean {
  const { request, path } = exchange;
  const files = edge.consoleFiles;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (files === undefined || match.kind !== 'unknown' || !isRead) return false;
  const file = files.find(path);
  if (file !== undefined) sendFile(edge, exchange, file);
  else if (path === '/' || isPageRequest(edge, exchange)) sendPage(edge, exchange);
  else return false;
  return true;
}

/** Pages of the console have paths without an ending that begin like no route of ours. */
function isPageRequest({ routes }: Edge, { path, headers }: Exchange): boolean {
  if (!headers.accept?.includes('text/html')) return false;
  const [, first = ''] = path.split('/');
  if (path.includes('.') || first === 'assets') return false;
  return !routes.routes.some((route) => route.path.split('/')[1] === first);
}

function sendPage(edge: Edge, exchange: Exchange): void {
  const page = edge.consoleFiles?.page();
  if (page === undefined) return;
  const body = Buffer.from(page.html);
  write(edge, exchange, {
    body,
    headers: [
      ...['content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store'],
      ...['content-security-policy', page.policy],
    ],
  });
}

function sendFile(edge: Edge, exchange: Exchange, file: ConsoleFile): void {
  const { headers } = exchange;
  const accepted = headers['accept-encoding'] ?? '';
  const coding = CODINGS.find(
    (one) => file.bodies[one] !== undefined && acceptsCoding(accepted, one),
  );
  const list = ['content-type', file.type, 'etag', file.etag, 'vary', 'accept-encoding'];
  list.push('cache-control', file.isHashed ? FOREVER : 'no-cache');
  // An image opened by itself is a page too.
  list.push('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (headers['if-none-match']?.split(',').some((tag) => tag.trim() === file.etag)) {
    write(edge, exchange, { headers: list });
    return;
  }
  if (coding !== undefined) list.push('content-encoding', coding);
  write(edge, exchange, { body: file.bodies[coding ?? 'identity'], headers: list });
}

interface FileAnswer {
  /** Undefined when the browser has it already. */
  readonly body?: Buffer | undefined;
  readonly headers: readonly string[];
}

function write(edge: Edge, exchange: Exchange, { body, headers }: FileAnswer): void {
  const { response, request } = exchange;
  if (response.headersSent || response.destroyed) return;
  const length = body === undefined ? [] : ['content-length', String(body.length)];
  const all = [...baseHeaders(edge, exchange), ...GUARDS, ...headers, ...length];
  response.writeHead(body === undefined ? 304 : 200, all);
  endAnswer(response, request.method === 'HEAD' ? undefined : body, edge.clock);
}
