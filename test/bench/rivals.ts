// Other proxies to compare with, used when they are installed on this machine: nginx and Portkey.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender } from './contender.ts';
import { findFreePort, startChild } from './process.ts';

export interface RivalOptions {
  readonly upstreamUrl: string;
  /** A folder of the bench's own, for files the rivals want. */
  readonly folder: string;
  readonly core: number;
}

/** nginx when it is on the PATH; Portkey when `PORTKEY_SERVER` names its start-server.js. */
export async function startRivals(options: RivalOptions): Promise<readonly Contender[]> {
  const rivals: Contender[] = [];
  if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0) {
    rivals.push(await startNginx(options));
  }
  const file = process.env.PORTKEY_SERVER;
  if (file !== undefined) rivals.push(await startPortkey(file, options));
  return rivals;
}

/** Does no more than the bare pass-through does: the floor of what a proxy can cost. */
async function startNginx({ upstreamUrl, folder, core }: RivalOptions): Promise<Contender> {
  const port = await findFreePort();
  const home = join(folder, 'nginx');
  mkdirSync(home);
  const file = join(home, 'nginx.conf');
  writeFileSync(file, nginxConfiguration({ home, port, upstream: new URL(upstreamUrl).host }));
  const args = ['-c', file, '-p', home, '-e', join(home, 'error.log')];
  const child = await startChild({ program: 'nginx', arguments: args, port, core });
  return { name: 'nginx', dialect: 'native', child, headers: {} };
}

function nginxConfiguration({
  home,
  port,
  upstream,
}: {
  readonly home: string;
  readonly port: number;
  readonly upstream: string;
}): string {
  return `
daemon off;
master_process off;
pid ${home}/pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000;
  client_max_body_size 100m;
  client_body_buffer_size 1m;
  client_body_temp_path ${home}/body;
  proxy_temp_path ${home}/proxy;
  fastcgi_temp_path ${home}/fastcgi;
  uwsgi_temp_path ${home}/uwsgi;
  scgi_temp_path ${home}/scgi;
  upstream mock { server ${upstream}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

/** Translates chat to generate-content, as the gateway does, for the address a header names. */
async function startPortkey(
  file: string,
  { upstreamUrl, folder, core }: RivalOptions,
): Promise<Contender> {
  const port = await findFreePort();
  const child = await startChild({
    arguments: ['--import', onLoopbackOnly(folder), file, `--port=${port}`, '--headless'],
    environment: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    port,
    core,
  });
  const headers = {
    'x-portkey-provider': 'google',
    'x-portkey-custom-host': `${upstreamUrl}/v1beta`,
  };
  return { name: 'Portkey', dialect: 'chat', child, headers };
}

/** Portkey cannot be told an address to listen on and would be open to the network. */
function onLoopbackOnly(folder: string): string {
  const file = join(folder, 'loopback-only.mjs');
  writeFileSync(
    file,
    `import { Server } from 'node:net';
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, _host, ...rest) {
  return listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function'));
};
`,
  );
  return file;
}
