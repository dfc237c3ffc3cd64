// The appearances to choose from.

import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';

export const SCHEMES = [
  { value: 'auto', text: 'shell.themeAuto', icon: IconDeviceDesktop },
  { value: 'light', text: 'shell.themeLight', icon: IconSun },
  { value: 'dark', text: 'shell.themeDark', icon: IconMoon },
] as const;
