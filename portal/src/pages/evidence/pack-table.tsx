// The packs in a table.
import { bytesShort } from '../../figures/amounts.ts'
import { energyExact, energyShort } from '../../figures/energy.ts'
import { moneyShort } from '../../figures/money.ts'
import { day } from '../../figures/time.ts'
import { StateWord } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'
import { useNow, useZone } from '../../parts/zone.ts'
import { useUnit } from '../../live/use-unit.ts'
import { contentOf, stateOf, type Pack } from './pack.ts'

type Props = { readonly packs: readonly Pack[]; readonly onRemove: (pack: Pack) => void }

export const PackTable = ({ packs, onRemove }: Props) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Time</th>
        <th scope="col" className="wide-only">
          State
        </th>
        <th scope="col" className="num wide-only">
          Cost of the work
        </th>
        <th scope="col" className="num wide-only">
          Size
        </th>
        <th scope="col" className="wide-only">
          Kept until
        </th>
        <th scope="col">
          <span className="spoken">Actions</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {packs.map((pack) => (
        <Row key={pack.id} pack={pack} onRemove={() => onRemove(pack)} />
      ))}
    </tbody>
  </table>
)

function Row({ pack, onRemove }: { readonly pack: Pack; readonly onRemove: () => void }) {
  const zone = useZone()
  const now = useNow('day')
  const unit = useUnit()
  const { id, from, to, status, reason, size_bytes, expires_at } = pack
  const nj = BigInt(pack.energy_nj)
  const state = stateOf(pack)
  return (
    <tr data-row>
      <td>
        <b>
          {day(new Date(from), zone, now)} to {day(new Date(to), zone, now)}
        </b>{' '}
        <span className="tiny">
          <When at={from} isExact /> to <When at={to} isExact />
        </span>
        <span className="under">{state.word}</span>
      </td>
      <td className="wide-only">
        <StateWord {...state} />
        {reason !== null && <span className="tiny"> {reason}</span>}
      </td>
      <td className="num wide-only" title={energyExact(nj)} data-copy={energyExact(nj)}>
        {energyShort(nj)}, {moneyShort(BigInt(pack.charge_pusd), unit)}
      </td>
      <td className="num wide-only">{size_bytes !== null && bytesShort(BigInt(size_bytes))}</td>
      <td className="wide-only">{expires_at !== null && <When at={expires_at} />}</td>
      <td>
        <div className="tools">
          {status === 'ready' && (
            <a className="btn small" href={contentOf(pack)} download={`${id}.zip`}>
              Download
            </a>
          )}
          <button type="button" className="btn small danger" onClick={onRemove}>
            {status === 'ready' || status === 'failed' ? 'Delete' : 'Cancel'}
          </button>
        </div>
      </td>
    </tr>
  )
}
