// The navigation beside the page, on screens that have the room.

import type { FeedState } from '../api/events.ts';
import { Logo } from './logo.tsx';
import { NavLinks } from './nav-links.tsx';
import { ShellFoot } from './shell-foot.tsx';
import './sidebar.css';

export function Sidebar({ feed }: { readonly feed: FeedState }) {
  return (
    <aside className="sidebar">
      <div className="sidebar-column">
        <div className="sidebar-head">
          <Logo />
        </div>
        <NavLinks />
        <ShellFoot feed={feed} />
      </div>
    </aside>
  );
}
