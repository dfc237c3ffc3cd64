// Where the open request is shown: beside the list where there is room, else over it.

import { ActionIcon, CloseButton, Drawer, Tooltip } from '@mantine/core';
import { IconArrowsDiagonal, IconArrowsDiagonalMinimize2 } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '../../components/panel.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { RequestView } from './request-view.tsx';
import type { Neighbours } from './use-neighbours.ts';

export interface RequestDrawerProps {
  /** Undefined while none is open. */
  readonly id: string | undefined;
  readonly neighbours: Neighbours;
  readonly onClose: () => void;
}

export function RequestDrawer({ id, neighbours, onClose }: RequestDrawerProps) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size={860}
      title={t('requests.detailTitle')}
    >
      {id !== undefined && (
        <div className="request-drawer-body">
          <RequestView {...{ id, neighbours }} />
        </div>
      )}
    </Drawer>
  );
}

export interface RequestPanelProps extends RequestDrawerProps {
  readonly id: string;
  /** Whether it takes most of the width. */
  readonly isWide: boolean;
  readonly onWiden: (isWide: boolean) => void;
}

export function RequestPanel(props: RequestPanelProps) {
  const { id, neighbours, isWide, onWiden, onClose } = props;
  const { t } = useTranslation();
  useEscape(onClose);
  const widening = t(isWide ? 'requests.narrow' : 'requests.widen');
  return (
    <Panel isFlush className="request-panel">
      <ScrollRegion className="request-panel-body" label={t('requests.detailTitle')}>
        <RequestView
          {...{ id, neighbours }}
          actions={
            <>
              <Tooltip label={widening}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={widening}
                  onClick={() => onWiden(!isWide)}
                >
                  {isWide ? (
                    <IconArrowsDiagonalMinimize2 size={18} />
                  ) : (
                    <IconArrowsDiagonal size={18} />
                  )}
                </ActionIcon>
              </Tooltip>
              <CloseButton onClick={onClose} />
            </>
          }
        />
      </ScrollRegion>
    </Panel>
  );
}

/** What opened over the page closes first. */
function useEscape(onEscape: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isOver(event)) onEscape();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onEscape]);
}

function isOver({ target }: KeyboardEvent): boolean {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.matches('[aria-expanded="true"], [role^="menuitem"]');
}
