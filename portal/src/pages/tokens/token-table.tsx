// The tokens in a table; those that ended are below, without actions.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { budgetUse } from '#console/parts/resources/budget-words.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Energy } from '#console/parts/energy/energy.tsx'
import { useTokensToday } from '#console/parts/resources/energy-today.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { WhenOrNever } from '#console/parts/time/when.tsx'
import { RotateToken } from './rotate-token.tsx'
import { SCOPE_WORDS } from '#console/parts/forms/scopes.ts'
import type { Token } from './token.ts'

type Doing = { readonly what: 'revoke' | 'rotate'; readonly token: Token }

export function TokenTable({ tokens }: { readonly tokens: readonly Token[] }) {
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const today = useTokensToday()
  return (
    <>
      <Table
        className="tokens"
        rows={[...tokens.filter(isValid), ...tokens.filter((token) => !isValid(token))]}
        keyOf={({ id }) => id}
        rowClass={(token) => (isValid(token) ? undefined : 'ended')}
        columns={[
          ...FACTS,
          {
            title: 'Today',
            className: 'num wide-only',
            cell: ({ id }) => today !== undefined && <Energy nj={today.get(id) ?? 0n} />,
          },
          ...LIMITS,
          actions((token: Token) => isValid(token) && <Buttons {...{ token, setDoing }} />),
        ]}
      />
      {doing?.what === 'rotate' && <RotateToken token={doing.token} onClose={stop} />}
      {doing?.what === 'revoke' && (
        <Confirm
          title={`Revoke ${doing.token.name}`}
          verb="Revoke it"
          onClose={stop}
          act={() => revoke(doing.token)}
        >
          Programs that use it get 401 from now on. A revoked token never comes back.
        </Confirm>
      )}
    </>
  )
}

async function revoke({ id }: Token): Promise<void> {
  await withTouch(() => call('DELETE /v1/tokens/:token', { path: { token: id } }))
  await changed('GET /v1/tokens')
}

const isValid = ({ status }: Token) => status === 'valid'

type ButtonsProps = { readonly token: Token; readonly setDoing: (doing: Doing) => void }

const Buttons = ({ token, setDoing }: ButtonsProps) => (
  <>
    <button type="button" className="btn small" onClick={() => setDoing({ what: 'rotate', token })}>
      Rotate
    </button>
    <button
      type="button"
      className="btn small danger"
      onClick={() => setDoing({ what: 'revoke', token })}
    >
      Revoke
    </button>
  </>
)

const FACTS: readonly Column<Token>[] = [
  {
    title: 'Token',
    className: 'wrap-anywhere',
    cell: (token) => (
      <>
        <b>{token.name}</b> {token.current && <span className="muted">this one</span>}
        <span className="hint">
          <code>{token.hint}…</code>{' '}
          {!isValid(token) && <StateWord tone="muted" word={token.status} />}
          {token.exposed_at !== null && <StateWord tone="bad" word="seen in an address" />}
        </span>
        <span className="under">
          {SCOPE_WORDS[token.scope].short}, last used <WhenOrNever at={token.last_used_at} />
        </span>
      </>
    ),
  },
  { title: 'May', className: 'wide-only', cell: ({ scope }) => SCOPE_WORDS[scope].short },
  {
    title: 'Last used',
    className: 'wide-only',
    cell: ({ last_used_at }) => <WhenOrNever at={last_used_at} />,
  },
]

const LIMITS: readonly Column<Token>[] = [
  { title: 'Budget a day', className: 'num', cell: (token) => <Budget token={token} /> },
  {
    title: 'Ends',
    className: 'wide-only',
    cell: ({ expires_at }) => <WhenOrNever at={expires_at} />,
  },
]

const Budget = ({ token }: { readonly token: Token }) =>
  budgetUse(token) ?? <span className="muted">none</span>
