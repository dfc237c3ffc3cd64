// The address of an outbound proxy: which ones can be used, and why the others cannot.

export type ProxyUrlReading =
  | { readonly kind: 'good'; readonly url: string }
  /** Starts with "must"; never repeats the address, which may hold a password. */
  | { readonly kind: 'bad'; readonly problem: string };

const SCHEMES = ['http:', 'https:', 'socks5:'];

/** `http://`, `https://` or `socks5://`, a host, perhaps a port, a user and a password; nothing after that. */
export function readProxyUrl(text: string): ProxyUrlReading {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url === undefined || !SCHEMES.includes(url.protocol) || url.hostname === '') {
    return bad('be an address that starts with http://, https:// or socks5://');
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return bad('end after the host and port');
  }
  if (!canDecode(url.username) || !canDecode(url.password)) {
    return bad('have "%" in user and password written as %25');
  }
  if (url.password !== '' && url.username === '') return bad('name a user before the password');
  return { kind: 'good', url: url.href };
}

function bad(problem: string): ProxyUrlReading {
  return { kind: 'bad', problem: `must ${problem}` };
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
