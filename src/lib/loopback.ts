// Which host to listen on is this machine alone.

/** True for `localhost` and the addresses of the loopback interface, as `HOST` spells them. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
