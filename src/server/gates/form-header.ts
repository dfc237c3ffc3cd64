// Reads the headers of a form's part: what it is called, the name of its file, its type and charset.

import { malformed } from './form-parts.ts';

export interface PartHeader {
  readonly name: string;
  /** Without folders; undefined for what is no file. */
  readonly fileName: string | undefined;
  /** In lower case, without parameters; '' when the part does not say. */
  readonly mediaType: string;
  readonly charset: string;
}

interface Parameterized {
  /** In lower case. */
  readonly word: string;
  /** Names in lower case; the first of several counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** One parameter; in quotes, only a quote and a backslash are escaped: Windows paths are not. */
const PARAMETER = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"|([^\s;"]*))\s*/y;
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

/** @throws GatewayError invalid-request for a part without a name, or of a form we do not read */
export function readPartHeader(headers: ReadonlyMap<string, string>): PartHeader {
  const { word, parameters } = readParameters(headers.get('content-disposition') ?? '');
  if (word !== 'form-data') throw malformed('a part has no Content-Disposition: form-data');
  const name = parameters.get('name');
  if (name === undefined || name === '') throw malformed('a part has no name');
  const encoding = (headers.get('content-transfer-encoding') ?? 'binary').toLowerCase();
  if (!PLAIN_ENCODINGS.includes(encoding)) {
    throw malformed('a part has a Content-Transfer-Encoding; send its bytes as they are');
  }
  const type = readParameters(headers.get('content-type') ?? '');
  if (type.word.startsWith('multipart/')) {
    throw malformed('a part is a form of its own; send each file as a part');
  }
  return {
    name,
    fileName: readFileName(parameters),
    mediaType: type.word,
    charset: type.parameters.get('charset') ?? 'utf-8',
  };
}

function readFileName(parameters: ReadonlyMap<string, string>): string | undefined {
  const name = readExtended(parameters.get('filename*')) ?? parameters.get('filename');
  return name?.replace(/^.*[/\\]/s, '');
}

/** RFC 5987: `UTF-8''caf%C3%A9.png`. Undefined for what cannot be read, then the plain name counts. */
function readExtended(value: string | undefined): string | undefined {
  const match = /^utf-8'[^']*'(.*)$/is.exec(value ?? '');
  if (match === null) return undefined;
  try {
    return decodeURIComponent(String(match[1]));
  } catch {
    return undefined;
  }
}

/** @throws GatewayError invalid-request when something stands behind the last whole parameter */
function readParameters(header: string): Parameterized {
  const end = header.indexOf(';');
  const word = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  let at = end;
  while (at !== -1 && at < header.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(header);
    if (match === null) {
      if (/^;\s*$/.test(header.slice(at))) break;
      throw malformed('the parameters of a header cannot be read');
    }
    const name = String(match[1]).toLowerCase();
    const value = match[2]?.replace(/\\(["\\])/g, '$1') ?? match[3] ?? '';
    if (!parameters.has(name)) parameters.set(name, value);
    at = PARAMETER.lastIndex;
  }
  return { word, parameters };
}
