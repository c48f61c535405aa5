// Five tabs of a phone. "Services" and "More" lead to the page of the rest.
import { Link } from '@tanstack/react-router'
import { Icon, type IconName } from '#console/parts/page/icons.tsx'
import { addressOfPage, PAGES } from '#console/pages/list.ts'

const ICONS: Readonly<Record<string, IconName>> = {
  Overview: 'overview',
  Playground: 'playground',
  Ledger: 'ledger',
}

/** Two tabs lead to one page: the part behind the # tells which. */
const HERE = { exact: true, includeHash: true }

export const Tabs = () => (
  <nav className="tabs" aria-label="Portal, short">
    {PAGES.filter(({ title }) => title in ICONS).map((page) => (
      <Link key={page.path} to={addressOfPage(page)} activeOptions={{ exact: page.path === '/' }}>
        <Icon name={ICONS[page.title] ?? 'more'} />
        {page.title}
      </Link>
    ))}
    <Link to="/more" hash="services" activeOptions={HERE}>
      <Icon name="services" />
      Services
    </Link>
    <Link to="/more" activeOptions={HERE}>
      <Icon name="more" />
      More
    </Link>
  </nav>
)
