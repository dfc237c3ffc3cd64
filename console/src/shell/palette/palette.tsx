// One field that leads everywhere: pages, settings, accounts, keys, models, clients, actions, a request by its id.

import { Combobox, Modal, TextInput, useCombobox } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { findItems, ITEM_GROUPS } from './find-items.ts';
import { takeEarly } from './palette-button.tsx';
import { useItems } from './use-items.tsx';
import './palette.css';
import { useOpenedLater } from '../../components/later.tsx';

export interface PaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function Palette({ isOpen, onClose }: PaletteProps) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(isOpen);
  return (
    <Modal.Root
      opened={isOpened}
      onClose={onClose}
      padding={0}
      size={620}
      lockScroll={false}
      yOffset="12dvh"
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay opacity={0.45} />
      <Modal.Content aria-label={t('palette.title')}>
        <Modal.Body>
          <PaletteField onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function PaletteField({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const items = useItems(text);
  const found = findItems(items, text);
  const combobox = useCombobox({ opened: true });
  const first = found[0]?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first of what is found is chosen as one types
  useEffect(() => {
    combobox.selectFirstOption();
  }, [text, first]);
  const run = (id: string): void => {
    onClose();
    found.find((item) => item.id === id)?.run();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={run}>
      <div className="palette-input">
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            role="combobox"
            variant="unstyled"
            size="md"
            data-autofocus
            aria-label={t('palette.title')}
            placeholder={t('palette.placeholder')}
            leftSection={<IconSearch size={18} />}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onFocus={() => {
              const typed = takeEarly();
              setText((now) => now + typed);
            }}
            // The list takes the key for itself.
            onKeyDown={(event) => {
              if (event.key === 'Escape' && !event.nativeEvent.isComposing) onClose();
            }}
          />
        </Combobox.EventsTarget>
      </div>
      <div className="palette-list">
        {found.length === 0 && (
          <p className="palette-none dimmed" role="status">
            {t('palette.none')}
          </p>
        )}
        <Combobox.Options aria-label={t('palette.found')}>
          {ITEM_GROUPS.map((group) => {
            const members = found.filter((item) => item.group === group);
            if (members.length === 0) return null;
            return (
              <Combobox.Group key={group} label={t(`palette.groups.${group}`)}>
                {members.map(({ id, label, hint }) => (
                  <Combobox.Option key={id} value={id}>
                    <span className="palette-label">{label}</span>
                    {hint !== undefined && (
                      <span className="palette-hint dimmed small one-line">{hint}</span>
                    )}
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            );
          })}
        </Combobox.Options>
      </div>
    </Combobox>
  );
}
