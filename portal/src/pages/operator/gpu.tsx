// The cards of the node: their power, what of it is billed, and the models that use them.
import { share } from '#console/figures/amounts.ts'
import { energyShort, power } from '#console/figures/energy.ts'
import { howOf } from '#console/figures/known.ts'
import { Facts } from '#console/parts/page/facts.tsx'
import { Known } from '#console/parts/energy/known.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { njPerS, type NodeFacts } from './node.ts'
import { Pairs } from './pairs.tsx'

type GpuFacts = NonNullable<NodeFacts['gpu']>
type Share = GpuFacts['shares'][number]

export function Gpu({ gpu }: { readonly gpu: GpuFacts }) {
  const [watts, billed, idle] = [gpu.watts, gpu.billed_watts, gpu.idle_watts].map(njPerS)
  if (watts === undefined || billed === undefined || idle === undefined) return null
  return (
    <Section
      title={`GPU, ${power(watts)} now`}
      aside={gpu.method !== null && <Known figure={howOf(gpu)} />}
    >
      <div className="stack">
        <p>{gpu.cards}</p>
        <Facts
          facts={[
            ['Billed', power(billed), `${share(billed, watts)} of its power`],
            ['Idle', power(idle), 'drawn anyway, the operator’s'],
            ['Busy', Number(gpu.busy_cpus).toFixed(2), `of ${cardsOf(gpu)}`],
            [
              'Tariff',
              energyShort(njPerS(gpu.tariff_j_per_cpu_s)),
              'for a second of steps, on average',
            ],
          ]}
        />
        <Table
          rows={gpu.shares}
          keyOf={({ name, payer }) => `${name} ${payer}`}
          columns={COLUMNS}
        />
        <Pairs
          pairs={[
            ['Method', `${gpu.method ?? 'none yet'}: ${gpu.reason}`],
            ['Meter', gpu.name],
            ['Metered since the start', energyShort(BigInt(gpu.reading_nj))],
            ['Windows', `${gpu.windows}, ${gpu.windows_fallback} of them without a reading`],
            ['Billed by tariff', energyShort(BigInt(gpu.true_up.accrued_nj))],
            ['True-up', `${energyShort(BigInt(gpu.true_up.true_up_nj))}, the operator’s`],
          ]}
        />
      </div>
    </Section>
  )
}

const cardsOf = ({ cpus }: GpuFacts): string => (cpus === '1' ? 'one card' : `${cpus} cards`)

const COLUMNS: readonly Column<Share>[] = [
  { title: 'Used by', className: 'wrap-anywhere', cell: ({ name }) => name },
  { title: 'Pays', className: 'wide-only', cell: ({ payer }) => payer },
  { title: 'Power', className: 'num', cell: ({ watts }) => power(njPerS(watts)) },
  { title: 'Of it idle', className: 'num', cell: ({ idle_watts }) => power(njPerS(idle_watts)) },
]
