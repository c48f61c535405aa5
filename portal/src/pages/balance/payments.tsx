// The payments of the account, the newest first.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReplyOf } from '../../client/operations.ts'
import { readPages, rowsOf } from '../../client/queries.ts'
import { balanceShort } from '../../figures/money.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { StateWord, type Tone } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'

type Topup = Pick<ReplyOf<'GET /v1/topups'>['data'][number], 'kind' | 'status'>

const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  created: ['muted', 'under way'],
  requires_action: ['warn', 'waits for you'],
  authorized: ['ok', 'held'],
  captured: ['ok', 'paid'],
  voided: ['muted', 'canceled'],
  expired: ['muted', 'ended'],
  failed: ['bad', 'failed'],
  disputed: ['bad', 'disputed'],
}
/** A hold that ends was held; a payment that is canceled never had the money. */
const stateOf = ({ kind, status }: Topup): readonly [Tone, string] =>
  kind === 'hold' && status === 'voided'
    ? ['muted', 'given back']
    : (STATES[status] ?? ['muted', status])
const KINDS = { hold: 'Hold', topup: 'Top-up', automatic: 'Automatic top-up' }

export function Payments() {
  const query = useInfiniteQuery(readPages('GET /v1/topups', {}))
  const rows = rowsOf(query.data)
  return (
    <Loaded query={query} what="the list of payments">
      {() =>
        rows.length === 0 ? (
          <p className="small">No payment yet.</p>
        ) : (
          <>
            <table>
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">State</th>
                  <th scope="col" className="wide-only">
                    When
                  </th>
                  <th scope="col" className="num">
                    Amount
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => {
                  const [tone, word] = stateOf(row)
                  return (
                    <tr key={row.id} data-row>
                      <td>
                        {KINDS[row.kind]} <span className="muted">{row.processor}</span>
                        {row.reason !== null && <span className="bad"> {row.reason}</span>}
                        <span className="under">
                          <When at={row.created_at} />
                        </span>
                      </td>
                      <td>
                        <StateWord tone={tone} word={word} />
                      </td>
                      <td className="wide-only">
                        <When at={row.created_at} />
                      </td>
                      <td className="num">{balanceShort(BigInt(row.amount_pusd), row.unit)}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
            {query.hasNextPage && (
              <button
                type="button"
                className="btn small"
                onClick={() => void query.fetchNextPage()}
              >
                Older payments
              </button>
            )}
          </>
        )
      }
    </Loaded>
  )
}
