// Files that go along with a message: which of them a protocol takes, and how they are read.

import type { WireProtocol } from './wire-protocol.ts';

export interface Attachment {
  readonly name: string;
  /** Such as `image/png`. */
  readonly type: string;
  readonly base64: string;
}

type FileKind = 'image' | 'pdf' | 'audio' | 'text';

const KINDS: Readonly<Record<WireProtocol, readonly FileKind[]>> = {
  chat: ['image', 'pdf', 'audio', 'text'],
  messages: ['image', 'pdf', 'text'],
  generate: ['image', 'pdf', 'audio', 'text'],
  responses: ['image', 'pdf', 'text'],
  images: [],
};

/** What a file chooser offers. */
const ACCEPTED: Readonly<Record<FileKind, string>> = {
  image: 'image/png,image/jpeg,image/webp,image/gif',
  pdf: 'application/pdf',
  audio: 'audio/mpeg,audio/wav',
  text: 'text/*,.md,.json,.csv,.xml,.yaml,.yml,.toml,.ts,.tsx,.js,.py,.go,.rs,.java,.c,.h,.cpp,.sh,.sql,.log',
};

/** All of a message together. */
export const MAX_FILE_BYTES = 20_000_000;

export function acceptedFiles(protocol: WireProtocol): string {
  return KINDS[protocol].map((kind) => ACCEPTED[kind]).join(',');
}

/** Undefined for a kind that no protocol here takes. */
export function kindOf({ type }: Pick<Attachment, 'type'>): FileKind | undefined {
  if (/^image\/(?:png|jpeg|webp|gif)$/.test(type)) return 'image';
  if (type === 'application/pdf') return 'pdf';
  if (/^audio\/(?:mpeg|wav)$/.test(type)) return 'audio';
  return type.startsWith('text/') ? 'text' : undefined;
}

export function takesFile(protocol: WireProtocol, file: Attachment): boolean {
  const kind = kindOf(file);
  return kind !== undefined && KINDS[protocol].includes(kind);
}

/** What the browser does not know the type of is a text where it is one. */
export async function readAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = typeOf(file.type);
  const known = { name: file.name === '' ? 'file' : file.name, base64: toBase64(bytes) };
  if (kindOf({ type }) !== undefined) return { ...known, type };
  return { ...known, type: isText(bytes) ? 'text/plain' : type };
}

export function textOfFile({ base64 }: Attachment): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)));
}

export function dataUrl({ type, base64 }: Attachment): string {
  return `data:${type};base64,${base64}`;
}

function typeOf(type: string): string {
  const [bare = ''] = type.toLowerCase().split(';');
  if (bare === 'audio/mp3') return 'audio/mpeg';
  if (bare === 'audio/x-wav' || bare === 'audio/wave') return 'audio/wav';
  return bare;
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

const STEP = 0x8000;

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += STEP) {
    text += String.fromCharCode(...bytes.subarray(at, at + STEP));
  }
  return btoa(text);
}
