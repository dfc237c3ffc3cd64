// How much of what was written to a connection the system still holds: the other side has not taken it.

import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Linux alone has them. https://docs.kernel.org/networking/proc_net_tcp.html */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const WORD_BYTES = 4;

/** Bytes in the system's queue, by "local remote"; undefined while nobody asks. */
let reading: Promise<ReadonlyMap<string, number>> | undefined;

/** Bytes the system holds unsent: they alone tell whether a client reads. Undefined where it does not say. */
export async function readUnsentBytes(socket: Socket | null): Promise<number | undefined> {
  const row = rowOf(socket);
  if (row === undefined) return undefined;
  reading ??= readTables().finally(() => {
    reading = undefined;
  });
  return (await reading).get(row);
}

/** The two ends of a connection as the tables write them. */
function rowOf(socket: Socket | null): string | undefined {
  const { localAddress, localPort, remoteAddress, remotePort } = socket ?? {};
  if (localPort === undefined || remotePort === undefined) return undefined;
  return `${endOf(localAddress, localPort)} ${endOf(remoteAddress, remotePort)}`;
}

function endOf(address: string | undefined, port: number): string {
  const bytes = ipaddr.parse(address?.split('%')[0] ?? '').toByteArray();
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += WORD_BYTES) {
    const word = bytes.slice(at, at + WORD_BYTES);
    words.push(Buffer.from(endianness() === 'LE' ? word.reverse() : word).toString('hex'));
  }
  return `${words.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

async function readTables(): Promise<ReadonlyMap<string, number>> {
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  const unsent = new Map<string, number>();
  for (const line of texts.join('\n').split('\n')) {
    const [, local, remote, , queues = ''] = line.trim().split(/\s+/, 5);
    unsent.set(`${local} ${remote}`, Number.parseInt(queues, 16));
  }
  return unsent;
}
