import { Book, Box, Globe, History, KeyRound, LayoutDashboard, PawPrint, ScrollText } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { NOUNS } from '../../../gateway.js';
import { capitalized } from '../../../nouns.js';
import { Link } from '../routing/link.js';
import { usePlace } from '../routing/location.js';

const NOUN_ICONS = { paw: PawPrint, book: Book };
const PAGES = [
  { to: '/', label: 'Overview', icon: LayoutDashboard },
  { to: '/requests', label: 'Requests', icon: ScrollText },
  ...NOUNS.map(({ plural, icon }) => ({
    to: `/${plural}`,
    label: capitalized(plural),
    icon: icon ? NOUN_ICONS[icon] : Box,
  })),
  { to: '/activity', label: 'Activity', icon: History },
];
const SETTINGS = [
  { to: '/settings/domains', label: 'Domains', icon: Globe },
  { to: '/settings/keys', label: 'API keys', icon: KeyRound },
];

export function Navigation() {
  const { path } = usePlace();
  const nav = useRef<HTMLElement>(null);
  // On a phone the pages are one row that scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each path has another current page.
  useEffect(() => {
    const row = nav.current;
    const current = row?.querySelector('[aria-current]');
    if (!row || !current) return;
    // `scrollIntoView` would also move the place where the Tab key begins.
    const [of, within] = [current.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += of.left - within.left - (within.width - of.width) / 2;
  }, [path]);
  const entry = ({ to, label, icon: Icon }: (typeof PAGES)[number]) => (
    <li key={to}>
      <Link to={to} isCurrent={to === '/' ? path === '/' : path.startsWith(to)}>
        <Icon size={17} aria-hidden="true" />
        {label}
      </Link>
    </li>
  );
  return (
    <nav ref={nav} className="side-nav" aria-label="Pages">
      <ul>{PAGES.map(entry)}</ul>
      <p className="nav-head" id="nav-settings">
        Project settings
      </p>
      <ul aria-labelledby="nav-settings">{SETTINGS.map(entry)}</ul>
    </nav>
  );
}
