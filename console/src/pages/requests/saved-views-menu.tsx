// Opens, keeps and removes saved views.

import { ActionIcon, Button, Menu, Modal, TextInput } from '@mantine/core';
import { IconBookmark, IconBookmarkPlus, IconCheck, IconTrash } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useStored } from '../../components/use-stored.ts';
import { countFilters, type RequestFilters, writeFilters } from './filters.ts';
import { isSameView, readViews, withView } from './saved-views.ts';

const STORED_AS = 'isthmus-request-views';

export function SavedViewsMenu({ filters }: { readonly filters: RequestFilters }) {
  const { t } = useTranslation();
  const [views = [], setViews] = useStored(STORED_AS, readViews);
  const [isNaming, setNaming] = useState(false);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t('requests.savedViews')}>
            <IconBookmark size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('requests.savedViewsHint')}</Menu.Label>
          {views.map(({ name, filters: saved }) => (
            <Menu.Item
              key={name}
              rightSection={isSameView(saved, filters) ? <IconCheck size={14} /> : undefined}
              renderRoot={(props) => (
                <Link {...props} to="/requests" search={writeFilters(saved)} />
              )}
            >
              {name}
            </Menu.Item>
          ))}
          {views.length > 0 && <Menu.Divider />}
          <Menu.Item
            leftSection={<IconBookmarkPlus size={14} />}
            disabled={countFilters(filters) === 0}
            onClick={() => setNaming(true)}
          >
            {t('requests.saveView')}
          </Menu.Item>
          {views
            .filter(({ filters: saved }) => isSameView(saved, filters))
            .map(({ name }) => (
              <Menu.Item
                key={name}
                leftSection={<IconTrash size={14} />}
                onClick={() => setViews(views.filter((one) => one.name !== name))}
              >
                {t('requests.removeView', { name })}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      <NameView
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => setViews(withView(views, { name, filters }))}
      />
    </>
  );
}

interface NameViewProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onName: (name: string) => void;
}

const MAX_CHARACTERS = 60;

function NameView({ isOpen, onClose, onName }: NameViewProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const close = (): void => {
    setName('');
    onClose();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onName(name.trim());
    close();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={t('requests.saveView')}>
      <form onSubmit={submit}>
        <TextInput
          label={t('requests.viewName')}
          description={t('requests.viewNameHint')}
          maxLength={MAX_CHARACTERS}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          data-autofocus
        />
        <div className="dialog-actions">
          <Button variant="default" onClick={close}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" disabled={name.trim() === ''}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
