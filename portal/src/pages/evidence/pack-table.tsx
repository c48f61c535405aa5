// The packs in a table.
import { bytesShort } from '#console/figures/amounts.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { day } from '#console/figures/time.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { TimeHead, When } from '#console/parts/time/when.tsx'
import { useNow, useZone } from '#console/parts/time/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { contentOf, stateOf, type Pack } from './pack.ts'

type Props = { readonly packs: readonly Pack[]; readonly onRemove: (pack: Pack) => void }

export function PackTable({ packs, onRemove }: Props) {
  const buttons = actions((pack: Pack) => (
    <>
      {pack.status === 'ready' && (
        <a className="btn small" href={contentOf(pack)} download={`${pack.id}.zip`}>
          Download
        </a>
      )}
      <button type="button" className="btn small danger" onClick={() => onRemove(pack)}>
        {pack.status === 'ready' || pack.status === 'failed' ? 'Delete' : 'Cancel'}
      </button>
    </>
  ))
  return <Table rows={packs} keyOf={({ id }) => id} columns={[...FACTS, buttons]} />
}

const FACTS: readonly Column<Pack>[] = [
  { title: <TimeHead />, cell: (pack) => <Time pack={pack} /> },
  {
    title: 'State',
    className: 'wide-only',
    cell: (pack) => (
      <>
        <StateWord {...stateOf(pack)} />
        {pack.reason !== null && <span className="tiny"> {pack.reason}</span>}
      </>
    ),
  },
  {
    title: 'Cost of the work',
    className: 'num wide-only',
    cell: (pack) => <Cost pack={pack} />,
    exact: ({ energy_nj }) => energyExact(BigInt(energy_nj)),
  },
  {
    title: 'Size',
    className: 'num wide-only',
    cell: ({ size_bytes }) => size_bytes !== null && bytesShort(BigInt(size_bytes)),
  },
  {
    title: 'Kept until',
    className: 'wide-only',
    cell: ({ expires_at }) => expires_at !== null && <When at={expires_at} />,
  },
]

function Time({ pack }: { readonly pack: Pack }) {
  const zone = useZone()
  const now = useNow('day')
  const { from, to } = pack
  return (
    <>
      <b>
        {day(new Date(from), zone, now)} to {day(new Date(to), zone, now)}
      </b>{' '}
      <span className="tiny">
        <When at={from} inColumn /> to <When at={to} inColumn />
      </span>
      <span className="under">{stateOf(pack).word}</span>
    </>
  )
}

function Cost({ pack: { energy_nj, charge_pusd } }: { readonly pack: Pack }) {
  const money = moneyShort(BigInt(charge_pusd), useUnit())
  return `${energyShort(BigInt(energy_nj))}, ${money}`
}
