// Starts the client kit's strict stand-in for the public upstream.

import { spawn } from 'node:child_process';

export interface StrictUpstream {
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

export async function startStrictUpstream(
  script: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<StrictUpstream> {
  const key = 'up-test-key-0123456789';
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, KEY: key, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`The strict upstream ended with ${code}.`)));
  });
  return {
    url,
    key,
    stop: () =>
      new Promise((resolve) => {
        child.on('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}
