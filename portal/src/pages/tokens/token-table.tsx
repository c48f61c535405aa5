// The tokens in a table; those that ended are below, without actions.
import { useState } from 'react'
import { call } from '../../client/call.ts'
import { changed } from '../../client/queries.ts'
import { withTouch } from '../../client/touch.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { StateWord } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'
import { RotateToken } from './rotate-token.tsx'
import { SCOPE_WORDS } from '../../parts/scopes.ts'
import type { Token } from './token.ts'

type Doing = { readonly what: 'revoke' | 'rotate'; readonly token: Token }

export function TokenTable({ tokens }: { readonly tokens: readonly Token[] }) {
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const isValid = ({ status }: Token) => status === 'valid'
  return (
    <>
      <table className="tokens">
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col" className="wide-only">
              May
            </th>
            <th scope="col" className="wide-only">
              Last used
            </th>
            <th scope="col" className="num">
              Budget a day
            </th>
            <th scope="col" className="wide-only">
              Ends
            </th>
            <th scope="col">
              <span className="spoken">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...tokens.filter(isValid), ...tokens.filter((token) => !isValid(token))].map(
            (token) => (
              <TokenRow key={token.id} token={token} onDo={(what) => setDoing({ what, token })} />
            ),
          )}
        </tbody>
      </table>
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

type RowProps = { readonly token: Token; readonly onDo: (what: Doing['what']) => void }

function TokenRow({ token, onDo }: RowProps) {
  const isValid = token.status === 'valid'
  return (
    <tr data-row className={isValid ? undefined : 'ended'}>
      <td>
        <b>{token.name}</b> {token.current && <span className="muted">this one</span>}
        <span className="hint">
          <code>{token.hint}…</code> {!isValid && <StateWord tone="muted" word={token.status} />}
          {token.exposed_at !== null && <StateWord tone="bad" word="seen in an address" />}
        </span>
        <span className="under">
          {SCOPE_WORDS[token.scope].short}, last used <LastUsed token={token} />
        </span>
      </td>
      <td className="wide-only">{SCOPE_WORDS[token.scope].short}</td>
      <td className="wide-only">
        <LastUsed token={token} />
      </td>
      <td className="num">
        <Budget token={token} />
      </td>
      <td className="wide-only">
        {token.expires_at === null ? 'never' : <When at={token.expires_at} />}
      </td>
      <td>
        {isValid && (
          <div className="tools">
            <button type="button" className="btn small" onClick={() => onDo('rotate')}>
              Rotate
            </button>
            <button type="button" className="btn small danger" onClick={() => onDo('revoke')}>
              Revoke
            </button>
          </div>
        )}
      </td>
    </tr>
  )
}

const LastUsed = ({ token: { last_used_at } }: { readonly token: Token }) =>
  last_used_at === null ? 'never' : <When at={last_used_at} />

const Budget = ({ token }: { readonly token: Token }) =>
  token.energy_budget === null ? (
    <span className="muted">none</span>
  ) : (
    <>
      {token.energy_budget_used_j ?? 0} J of {token.energy_budget}
    </>
  )
