// Which host to listen on is this machine alone, and how this machine reaches itself at any other.

/** True for `localhost` and the addresses of the loopback interface, as `HOST` spells them. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Every address of this machine, as `HOST` spells it. */
export function isEveryAddress(host: string): boolean {
  return LOOPBACK_OF_ALL.has(host);
}

/** Where this machine reaches what listens there: an address that stands for all is none to go to. */
export function ownAddress(host: string, port: number): string {
  const reached = LOOPBACK_OF_ALL.get(host) ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

const LOOPBACK_OF_ALL: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
