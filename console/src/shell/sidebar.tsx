// The navigation beside the page, on screens that have the room.

import type { FeedState } from '../api/events.ts';
import { Logo } from './logo.tsx';
import { NavLinks } from './nav-links.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { ShellFoot } from './shell-foot.tsx';
import './sidebar.css';

export interface SidebarProps {
  readonly feed: FeedState;
  readonly onFind: () => void;
}

export function Sidebar({ feed, onFind }: SidebarProps) {
  return (
    <aside className="sidebar">
      <div className="sidebar-column">
        <div className="sidebar-head">
          <Logo />
        </div>
        <PaletteButton onOpen={onFind} />
        <NavLinks />
        <ShellFoot feed={feed} />
      </div>
    </aside>
  );
}
