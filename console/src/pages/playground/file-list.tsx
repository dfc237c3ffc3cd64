// Files of a message: pictures as pictures, all others by name.

import { CloseButton } from '@mantine/core';
import { IconFile } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { writeBytes } from '../../components/write-bytes.ts';
import { type Attachment, dataUrl, kindOf } from '../../wire/attachments.ts';

export interface FileListProps {
  readonly files: readonly Attachment[];
  readonly onRemove?: (file: Attachment) => void;
}

export function FileList({ files, onRemove }: FileListProps) {
  const { t } = useTranslation();
  return (
    <ul className="file-list" aria-label={t('playground.files')}>
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
        <li key={index}>
          {kindOf(file) === 'image' ? (
            <img src={dataUrl(file)} alt="" />
          ) : (
            <IconFile size={16} aria-hidden="true" />
          )}
          <span className="one-line" title={file.name}>
            {file.name}
          </span>
          <span className="dimmed small">{writeBytes((file.base64.length / 4) * 3)}</span>
          {onRemove !== undefined && (
            <CloseButton
              size="sm"
              aria-label={t('playground.removeFile', { name: file.name })}
              onClick={() => onRemove(file)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
