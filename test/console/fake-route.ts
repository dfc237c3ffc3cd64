// What the routes of the console's fixture server are made of.

import { asSentence } from '../../src/lib/localized-message.ts';

interface FakeInput {
  /** What stood in the place of `{…}` in the path. */
  readonly parameter: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly ifMatch: string | undefined;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeRoute {
  readonly method: string;
  /** With at most one `{…}`, which may hold slashes. */
  readonly path: string;
  run(input: FakeInput): FakeAnswer | Promise<FakeAnswer>;
}

/** What the fixture server is full of. */
export type Scene = 'rich' | 'empty' | 'trouble';

export const json = (body: object, status = 200): FakeAnswer => ({ status, body });

export function refuse(status: number, message: string, field?: string): FakeAnswer {
  const code = status === 404 ? 'not-found' : status === 412 ? 'stale-revision' : 'invalid-request';
  return {
    status,
    body: {
      error: { code, message: asSentence(message), ...(field === undefined ? {} : { field }) },
    },
  };
}

/** Texts that would run as script, or break the page, where they are not shown as text. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(2)</script>',
  "javascript:alert('3')",
  '{{constructor.constructor("alert(4)")()}}',
  '\u202Eevil\u202C <svg/onload=alert(5)>',
] as const;
