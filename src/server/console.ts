// The static files of the console, read once into memory: no request becomes a path on the disk.

import { hash, randomBytes } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { codeOf } from '../lib/localized-message.ts';
import { once } from '../lib/once.ts';
import type { Log } from './settings.ts';

/** A page as it is sent this once. */
interface ConsolePage {
  readonly html: string;
  readonly policy: string;
}

const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:15vh auto 0;padding:0 1rem;' +
  'color-scheme:light dark}code{padding:.1em .3em;border:1px solid;border-radius:.3em}';

const HTML =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>isthmus</title>' +
  `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>` +
  '<h1>isthmus is running</h1>' +
  '<p>The gateway answers model requests. Its web console is not built yet: run ' +
  '<code>npm start</code> in its folder, which builds it, or set <code>ABV_DIST_PATH</code> to ' +
  'the folder of a built console.</p>' +
  '<p>Until then everything can be done with the command line (<code>isthmus --help</code>) and ' +
  'the admin API, which <a href="/api/openapi.json">describes itself</a>.</p></html>';

const PLACEHOLDER_PAGE: ConsolePage = {
  html: HTML,
  policy:
    `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  /** Compressed when it is first asked for: most gateways never show their console. */
  readonly codings: readonly { readonly name: 'br' | 'gzip'; body(): Promise<Buffer> }[];
  /** A strong entity tag with its quotes. */
  readonly etag: string;
  /** True when its name changes with its content. */
  readonly isHashed: boolean;
}

export type ConsoleFiles = ReturnType<typeof createConsoleFiles>;

interface ConsoleFilesOptions {
  readonly distPath: string;
  readonly log?: Pick<Log, 'warn'> | undefined;
}

const INDEX = 'index.html';
/** The page of a key's holder; it needs nothing of the console. */
const ME = 'me.html';
/** Stands in the built page where a nonce for its styles belongs. */
const NONCE_MARK = '__STYLE_NONCE__';
const MAX_CONSOLE_BYTES = 64 * 1024 * 1024;
const MIN_WORTH_COMPRESSING = 1_024;
/** `name-DnU3x_8q.js`, as the bundler writes it. */
const HASHED_NAME = /[.-][\w-]{8}\.[a-z\d]+$/i;

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
  ['.txt', 'text/plain; charset=utf-8'],
]);
const COMPRESSIBLE = /^text\/|json|svg/;

/** They are read when a browser first asks for one. */
export function createConsoleFiles({ distPath, log }: ConsoleFilesOptions) {
  const load = once(() => {
    const read = readFolder(distPath, log);
    const index = read.get(`/${INDEX}`)?.toString('utf8');
    const me = read.get(`/${ME}`)?.toString('utf8');
    for (const page of [INDEX, ME]) read.delete(`/${page}`);
    return {
      index,
      me,
      files: new Map([...read].map(([path, file]) => [path, toFile(path, file)])),
    };
  });
  return {
    /** @param path percent-decoded, looked up as it is */
    find: (path: string): ConsoleFile | undefined => load().files.get(path),
    /** While no console is built, the one that says how. */
    page(path = '/'): ConsolePage {
      const { index, me } = load();
      const page = path === '/me' ? me : index;
      return page === undefined ? PLACEHOLDER_PAGE : writePage(page);
    },
  };
}

/** Everything from here, and nothing inline but styles with the nonce. No text becomes markup or script. */
function writePage(index: string): ConsolePage {
  const hasMark = index.includes(NONCE_MARK);
  const nonce = hasMark ? randomBytes(18).toString('base64') : undefined;
  const style = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return {
    html: nonce === undefined ? index : index.replaceAll(NONCE_MARK, nonce),
    policy: writePolicy(
      `script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; style-src ${style}`,
    ),
  };
}

function writePolicy(sources: string): string {
  return (
    `default-src 'none'; ${sources}; connect-src 'self'; font-src 'self'; ` +
    `img-src 'self' data: blob:; media-src 'self' data: blob:; manifest-src 'self'; ` +
    `base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
  );
}

function readFolder(folder: string, log: ConsoleFilesOptions['log']): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let total = 0;
  for (const path of listFiles(folder)) {
    total += statSync(path).size;
    if (total > MAX_CONSOLE_BYTES) {
      log?.warn(
        { folder },
        `The console is larger than ${MAX_CONSOLE_BYTES} bytes; the rest is left out.`,
      );
      break;
    }
    files.set(`/${relative(folder, path).split(sep).join('/')}`, readFileSync(path));
  }
  return files;
}

/** No link leads out of the folder, and nothing hidden is meant for browsers. */
function listFiles(folder: string): readonly string[] {
  return listEntries(folder)
    .filter(({ name }) => !name.startsWith('.'))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listFiles(path);
      return entry.isFile() ? [path] : [];
    });
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

function toFile(path: string, content: Buffer): ConsoleFile {
  const type = TYPES.get(extname(path).toLowerCase()) ?? 'application/octet-stream';
  const isWorth = COMPRESSIBLE.test(type) && content.length >= MIN_WORTH_COMPRESSING;
  return {
    type,
    content,
    codings: isWorth ? codingsOf(content) : [],
    etag: `"${hash('sha256', content, 'base64url').slice(0, 22)}"`,
    isHashed: path.startsWith('/assets/') && HASHED_NAME.test(path),
  };
}

/** Best first. */
function codingsOf(content: Buffer): ConsoleFile['codings'] {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  return [
    { name: 'br', body: once(() => promisify(brotliCompress)(content, quality)) },
    { name: 'gzip', body: once(() => promisify(gzip)(content, { level: 9 })) },
  ];
}
