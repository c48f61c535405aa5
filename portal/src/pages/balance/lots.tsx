// The balance by origin, in the order in which it is spent.
import { balanceExact } from '../../figures/money.ts'
import { When } from '../../parts/when.tsx'
import type { Balance } from './left.tsx'

const KINDS = { funds: 'Funds', test: 'Test money', points: 'Points', promotion: 'Promotion' }

export function Lots({ balance: { lots, unit } }: { readonly balance: Balance }) {
  if (lots.length === 0) return <p className="small">Nothing is on file.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Spent in this order</th>
          <th scope="col" className="wide-only">
            Ends
          </th>
          <th scope="col" className="num">
            Left
          </th>
        </tr>
      </thead>
      <tbody>
        {lots.map(({ kind, remaining_pusd, expires_at, reference }, nth) => (
          <tr key={`${reference ?? kind} ${nth}`}>
            <td>
              {KINDS[kind]}
              <span className="under">
                ends <Ends at={expires_at} />
              </span>
            </td>
            <td className="wide-only">
              <Ends at={expires_at} />
            </td>
            <td className="num">{balanceExact(BigInt(remaining_pusd), unit)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Ends = ({ at }: { readonly at: string | null }) => (at === null ? 'never' : <When at={at} />)
