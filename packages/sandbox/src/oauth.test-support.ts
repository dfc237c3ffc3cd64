// What the OAuth tests share: a person at the consent page, and a client at the token endpoint.

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, parseJson } from './json.ts';
import { startTestSandbox } from './sandbox.test-support.ts';
import type { SandboxOptions } from './server.ts';

const VERIFIER = 'a-verifier-of-enough-characters-for-the-grammar';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
export const REDIRECT = 'http://127.0.0.1:5123/callback';
export const CLIENT = 'isthmus-sandbox';

export type Values = Readonly<Record<string, string>>;

export interface TokenReply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: JsonObject;
}

export type OAuthSandbox = Awaited<ReturnType<typeof startOAuthSandbox>>;

export async function startOAuthSandbox(options: Partial<SandboxOptions> = {}) {
  const sandbox = await startTestSandbox(undefined, options);
  const { oauth } = sandbox;
  const post = (address: string, form: Values | URLSearchParams, headers: Values = {}) =>
    fetch(address, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
      headers,
    });
  const ask = (change: Values = {}): Promise<Response> =>
    fetch(`${oauth.authorizationUrl}?${new URLSearchParams({ ...goodQuery(), ...change })}`, {
      redirect: 'manual',
    });
  const answer = async (page: Response, form: Values): Promise<Response> =>
    post(oauth.authorizationUrl, { ticket: ticketOf(await page.text()), ...form });
  const consent = async (email: string, { tier = 'pro', query = {} }: ConsentOptions = {}) => {
    const form = { decision: 'allow', person: 'someone', email, tier };
    return targetOf(await answer(await ask(query), form)).searchParams.get('code') ?? '';
  };
  const token = async (form: Values, headers: Values = {}): Promise<TokenReply> => {
    const all = { client_id: CLIENT, ...form };
    const reply = await post(oauth.tokenUrl, all, headers);
    return { status: reply.status, headers: reply.headers, json: await readJson(reply) };
  };
  const redeem = (code: string, change: Values = {}) =>
    token({
      grant_type: 'authorization_code',
      code,
      code_verifier: VERIFIER,
      redirect_uri: REDIRECT,
      ...change,
    });
  return {
    ...sandbox,
    post,
    ask,
    answer,
    consent,
    token,
    redeem,
    refresh: (refreshToken: string, change: Values = {}) =>
      token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...change }),
    signIn: async (email: string, options?: ConsentOptions) =>
      readTokens((await redeem(await consent(email, options))).json),
    /** The status of a model call with this access token. */
    call: async (accessToken: string) => (await sandbox.send(...modelCall(accessToken))).status,
  };
}

interface ConsentOptions {
  readonly tier?: string;
  readonly query?: Values;
}

export function goodQuery(): Values {
  return {
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: REDIRECT,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'state-1',
  };
}

export function readTokens(json: JsonObject): { access: string; refresh: string } {
  return { access: String(json.access_token), refresh: String(json.refresh_token) };
}

/** Where a redirect leads. */
export function targetOf(response: Response): URL {
  return new URL(response.headers.get('location') ?? 'about:blank');
}

export function ticketOf(page: string): string {
  return /name="ticket" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

export function modelCall(accessToken: string) {
  const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
  const headers = { authorization: `Bearer ${accessToken}` };
  return ['/v1beta/models/alpha-3-flash:generateContent', { body, headers }] as const;
}

async function readJson(reply: Response): Promise<JsonObject> {
  const text = await reply.text();
  const value = text === '' ? {} : parseJson(text);
  return isJsonObject(value) ? value : {};
}
