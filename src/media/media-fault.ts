// Why media could not be fetched, in words a client may read.

export type MediaFaultKind =
  | 'not-public'
  | 'unreachable'
  | 'too-slow'
  | 'too-large'
  | 'too-many-redirects'
  | 'refused'
  | 'wrong-type';

const WORDS: Readonly<Record<MediaFaultKind, string>> = {
  'not-public': 'only https addresses of public hosts are fetched, without a port',
  unreachable: 'its host could not be reached',
  'too-slow': 'it did not come in time',
  'too-large': 'it is too large',
  'too-many-redirects': 'it redirects too often',
  refused: 'its host did not give it out',
  'wrong-type': 'it is no image, PDF, audio or video',
};

/** The message is a clause without an end mark. */
export class MediaFault extends Error {
  readonly kind: MediaFaultKind;

  constructor(kind: MediaFaultKind, cause?: unknown) {
    super(WORDS[kind], cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
