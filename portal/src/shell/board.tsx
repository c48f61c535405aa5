// The distribution board: each circuit with its watts, which add up to the total beside Overview.
import type { Session } from '#console/client/operations.ts'
import { Link } from '@tanstack/react-router'
import { power } from '#console/figures/energy.ts'
import { balanceShort } from '#console/figures/money.ts'
import { useLive } from '#console/live/use-live.ts'
import { addressOfPage, CIRCUITS, pagesOf, type PageEntry } from '#console/pages/list.ts'
import { restOf } from './rest-of.ts'
import { Logo } from '#console/parts/page/icons.tsx'
import { StatusLink } from '#console/parts/page/status-link.tsx'
import { SignOut } from './sign-out.tsx'

export function Board({ session }: { readonly session: Session | undefined }) {
  const total = useLive(({ power: now, status }) => (status === 'live' ? now?.total : undefined))
  return (
    <header className="board">
      <Link className="brand" to="/">
        <Logo />
        ergon
      </Link>
      <nav aria-label="Portal">
        {CIRCUITS.map((circuit) => {
          const pages = pagesOf(circuit, session?.is_operator === true)
          return pages.length === 0 ? null : (
            <ul key={circuit}>
              {pages.map((page) => (
                <li key={page.path}>
                  <PageLink page={page} />
                </li>
              ))}
              {circuit === 'services' && <Rest />}
            </ul>
          )
        })}
      </nav>
      <AccountLine session={session} />
      {total !== undefined && (
        <span className="phone-only small">
          <b>{power(total)}</b> now
        </span>
      )}
    </header>
  )
}

const PageLink = ({ page }: { readonly page: PageEntry }) => (
  <Link to={addressOfPage(page)} activeOptions={{ exact: page.path === '/' }}>
    <span>{page.title}</span>
    <Beside page={page} />
  </Link>
)

/** What stands at the right of a circuit: watts, or the balance. */
function Beside({ page: { path, service } }: { readonly page: PageEntry }) {
  const text = useLive(({ status, power: now, balance }) => {
    if (path.startsWith('/balance'))
      return balance === undefined || balance.balance_pusd === '0'
        ? undefined
        : balanceShort(BigInt(balance.balance_pusd), balance.unit)
    if (status !== 'live' || now === undefined) return undefined
    if (path === '/') return power(now.total)
    const own = service === undefined ? 0n : (now.by[service] ?? 0n)
    return own === 0n ? undefined : power(own)
  })
  return text === undefined ? null : <small>{text}</small>
}

/** Watts that no other circuit has: reads of the account, its portal and what looking costs. */
function Rest() {
  const rest = useLive(({ status, power: now }) =>
    status === 'live' && now !== undefined ? restOf(now) : 0n,
  )
  return (
    <li className="rest">
      <span>Account reads</span>
      {rest > 0n && <small>{power(rest)}</small>}
    </li>
  )
}

function AccountLine({ session }: { readonly session: Session | undefined }) {
  const isTest = useLive(({ balance }) => balance?.unit === 'tUSD')
  if (session === undefined)
    return (
      <p className="account tiny">
        <StatusLink />
      </p>
    )
  return (
    <p className="account tiny">
      {session.account_name}
      {isTest && (
        <>
          <br />
          test money, nothing is owed
        </>
      )}
      <br />
      <StatusLink /> · <SignOut />
    </p>
  )
}
