// `isthmus health`: whether the gateway takes requests. It runs every few seconds, so it loads little.

import { get, type RequestOptions } from 'node:http';
import { configPath, resolveDataDir, resolveSettings } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import { messageOf } from '../lib/localized-message.ts';
import { ownAddress } from '../lib/net.ts';

/** A gateway that has much to do is slow, not ill. */
const TIMEOUT_MS = 9000;

interface HealthOptions {
  readonly environment: Environment;
  readonly flags: { readonly dataDir?: string | undefined };
}

/** Asks `/readyz`, which needs no password. @returns one sentence, also if nothing answers. @throws ConfigError */
export async function checkHealth({ environment, flags }: HealthOptions) {
  const { config } = await loadConfig(configPath(resolveDataDir(flags, environment)));
  const { host, port, tlsCert } = resolveSettings({ flags, environment, file: config });
  const url = ownAddress(host, port, tlsCert === undefined ? 'http' : 'https');
  try {
    const status = await readStatus(`${url}/readyz`);
    const isReady = status === 200;
    const words = isReady ? 'takes requests' : `takes no requests (${status})`;
    return { isReady, url, text: `The gateway at ${url} ${words}.` };
  } catch (error) {
    return { isReady: false, url, text: `No gateway answers at ${url} (${messageOf(error)}).` };
  }
}

/** Without the client of the platform, which takes as long to load as all the rest. */
async function readStatus(url: string): Promise<number | undefined> {
  const isSecure = url.startsWith('https:');
  const ask = isSecure ? (await import('node:https')).get : get;
  // Nothing secret is said, and the certificate is for the names that clients use, not for loopback.
  const trust = isSecure ? { rejectUnauthorized: false } : {};
  const options: RequestOptions = { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
  return new Promise((resolve, reject) => {
    const request = ask(url, { ...options, ...trust }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('error', reject);
  });
}
