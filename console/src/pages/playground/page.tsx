// The playground: a conversation in any client protocol, with the wire beside it.

import { Button, Drawer, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAdjustments, IconTrash } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { ConversationView } from './conversation-view.tsx';
import { DraftForm } from './draft-form.tsx';
import { forgetDraft, type KeptDraft, keepDraft, readKept } from './draft-store.ts';
import { PromptForm } from './prompt-form.tsx';
import { useConversation } from './use-conversation.ts';
import { useDraft } from './use-draft.ts';
import { WirePanel } from './wire-panel.tsx';
import './page.css';

export interface PlaygroundPageProps {
  /** In place of what was left in it, which stays as it is. */
  readonly given: KeptDraft | undefined;
}

export function PlaygroundPage({ given }: PlaygroundPageProps) {
  const { t } = useTranslation();
  const [kept] = useState(() => given ?? readKept());
  const [isKept, setKept] = useState(given === undefined && kept !== undefined);
  const { draft, setDraft, typed, type, hasBadAmount } = useDraft(kept?.draft);
  const [key, setKey] = useState('');
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const talk = useConversation(kept?.turns ?? []);
  const isNarrow = useMediaQuery('(max-width: 75em)');
  const { said, turns, isBusy } = talk;
  useEffect(() => {
    if (isKept && !isBusy) keepDraft({ draft: { ...draft, turns: [] }, turns });
  }, [isKept, isBusy, draft, turns]);
  const form = (
    <div className="form-stack">
      <DraftForm
        draft={draft}
        onDraft={setDraft}
        typed={typed}
        onType={type}
        accessKey={key}
        onAccessKey={setKey}
      />
      <Switch
        label={t('playground.keep')}
        checked={isKept}
        onChange={({ currentTarget: { checked } }) => {
          setKept(checked);
          if (!checked) forgetDraft();
        }}
      />
    </div>
  );
  return (
    <>
      <PageHeader
        title={t('shell.pages.playground')}
        subtitle={t('playground.subtitle')}
        actions={
          <>
            {isNarrow === true && (
              <Button
                variant="default"
                leftSection={<IconAdjustments size={16} />}
                onClick={() => setSettingsOpen(true)}
              >
                {t('playground.settings')}
              </Button>
            )}
            <Button
              variant="default"
              leftSection={<IconTrash size={16} />}
              disabled={said.length === 0}
              onClick={talk.clear}
            >
              {t('playground.clear')}
            </Button>
          </>
        }
      />
      <div className="playground">
        {isNarrow === false && <Panel className="playground-settings">{form}</Panel>}
        <Panel isFlush className="playground-talk">
          <ConversationView talk={talk} />
          <PromptForm
            isBusy={isBusy}
            isImage={draft.protocol === 'images'}
            trouble={draft.model.trim() === '' ? 'noModel' : hasBadAmount ? 'badAmount' : undefined}
            onSend={(prompt) => talk.send(draft, prompt, key)}
            onStop={talk.stop}
          />
        </Panel>
        <WirePanel wire={talk.wire} isBusy={isBusy} hasKey={key !== ''} />
      </div>
      <Drawer
        opened={areSettingsOpen}
        onClose={() => setSettingsOpen(false)}
        position="right"
        title={t('playground.settings')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {form}
      </Drawer>
    </>
  );
}
