// The rest of the board, for phones: every page by its group.
import { Link } from '@tanstack/react-router'
import { useIsOperator } from '#console/client/queries.ts'
import { addressOfPage, CIRCUITS, pagesOf } from '#console/pages/list.ts'
import { Section } from '#console/parts/page/section.tsx'
import { Head } from './head.tsx'
import { StatusLink } from '#console/parts/page/status-link.tsx'
import { SignOut } from './sign-out.tsx'
import './more.css'

const TITLES = {
  main: 'Now',
  services: 'Services',
  money: 'Money',
  account: 'Account',
  operator: 'Node',
}

export function Page() {
  const isOperator = useIsOperator()
  return (
    <>
      <Head title="All pages" />
      <div className="stack">
        {CIRCUITS.map((circuit) => {
          const pages = pagesOf(circuit, isOperator)
          return pages.length === 0 ? null : (
            <Section key={circuit} title={TITLES[circuit]}>
              <ul className="more" id={circuit}>
                {pages.map((page) => (
                  <li key={page.path}>
                    <Link to={addressOfPage(page)}>{page.title}</Link>
                  </li>
                ))}
              </ul>
            </Section>
          )
        })}
        <p className="tools">
          <StatusLink />
          <SignOut />
        </p>
      </div>
    </>
  )
}
