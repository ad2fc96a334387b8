import { Link } from '../routing/link.js';
import { usePlace } from '../routing/location.js';

const PAGES = [
  { to: '/', label: 'Overview' },
  { to: '/pets', label: 'Pets' },
];
const SETTINGS = [
  { to: '/settings/domains', label: 'Domains' },
  { to: '/settings/keys', label: 'API keys' },
];

export function Navigation() {
  const { path } = usePlace();
  const entry = ({ to, label }: (typeof PAGES)[number]) => (
    <li key={to}>
      <Link to={to} isCurrent={to === '/' ? path === '/' : path.startsWith(to)}>
        {label}
      </Link>
    </li>
  );
  return (
    <nav aria-label="Pages">
      <ul>{PAGES.map(entry)}</ul>
      <p className="nav-head" id="nav-settings">
        Project settings
      </p>
      <ul aria-labelledby="nav-settings">{SETTINGS.map(entry)}</ul>
    </nav>
  );
}
