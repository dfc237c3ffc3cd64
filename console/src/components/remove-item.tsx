// The entry of a menu that removes something for good, in a red that can be read.

import { Menu } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';

export interface RemoveItemProps {
  readonly children: ReactNode;
  readonly onClick: () => void;
}

export function RemoveItem({ children, onClick }: RemoveItemProps) {
  return (
    <Menu.Item
      // The red of the theme is too pale for text.
      color="var(--app-bad)"
      leftSection={<IconTrash size={16} aria-hidden="true" />}
      onClick={onClick}
    >
      {children}
    </Menu.Item>
  );
}
