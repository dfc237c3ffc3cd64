// Files that were chosen, dropped or pasted for the next message: those the protocol takes, up to a size.

import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useToasts } from '../../components/use-toasts.tsx';
import { writeBytes } from '../../components/write-bytes.ts';
import {
  type Attachment,
  MAX_FILE_BYTES,
  readAttachment,
  takesFile,
} from '../../wire/attachments.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';

export interface Files {
  readonly files: readonly Attachment[];
  setFiles(files: readonly Attachment[]): void;
  /** Says which of them cannot go along, and why. */
  add(chosen: readonly File[]): Promise<void>;
}

export function useFiles(protocol: WireProtocol, first: readonly Attachment[] = []): Files {
  const { t } = useTranslation();
  const toasts = useToasts();
  const [files, setFiles] = useState<readonly Attachment[]>(first);
  const add = async (chosen: readonly File[]): Promise<void> => {
    const before = files.reduce((sum, { base64 }) => sum + (base64.length / 4) * 3, 0);
    const total = chosen.reduce((sum, { size }) => sum + size, before);
    if (total > MAX_FILE_BYTES) {
      toasts.warn(t('playground.filesTooLarge', { most: writeBytes(MAX_FILE_BYTES) }));
      return;
    }
    try {
      const read = await Promise.all(chosen.map(readAttachment));
      const refused = read.filter((file) => !takesFile(protocol, file));
      if (refused.length > 0) {
        const names = refused.map(({ name }) => name).join(', ');
        toasts.warn(t('playground.fileRefused', { names }));
      }
      setFiles((known) => [...known, ...read.filter((file) => takesFile(protocol, file))]);
    } catch (error) {
      toasts.failed(error);
    }
  };
  return { files, setFiles, add };
}
