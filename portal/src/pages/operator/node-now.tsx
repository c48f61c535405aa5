// The node: its power as one bar, how that is known, disks and versions.
import { bytesShort, share } from '#console/figures/amounts.ts'
import { energyShort, power } from '#console/figures/energy.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { grouped } from '#console/figures/digits.ts'
import { howOf } from '#console/figures/known.ts'
import { Facts } from '#console/parts/page/facts.tsx'
import { Known } from '#console/parts/energy/known.tsx'
import { Limit } from '#console/parts/energy/limit.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { When } from '#console/parts/time/when.tsx'
import { njPerS, powerParts, windowsWords, type NodeFacts } from './node.ts'
import { Gpu } from './gpu.tsx'
import { Pairs } from './pairs.tsx'
import { useBooks } from './use-operator.ts'
import { WithNode } from './with-node.tsx'

export const NodeNow = () => (
  <WithNode>
    {(facts) => (
      <div className="stack wide">
        <Power facts={facts} />
        <Charged />
        <Meter facts={facts} />
        {facts.gpu !== null && <Gpu gpu={facts.gpu} />}
        <Disks facts={facts} />
        <Versions facts={facts} />
      </div>
    )}
  </WithNode>
)

type BooksReply = ReplyOf<'GET /v1/operator/books'>
type Props = { readonly facts: NodeFacts }

const PARTS = [
  ['billed', 'billed', 'work that accounts pay for, in the last second'],
  ['ours', 'ours', 'our own work'],
  ['others', 'other', 'the agent, and programs that are not ours'],
  ['idle', 'idle', 'drawn by the machine anyway'],
] as const

function Power({ facts }: Props) {
  const { meter } = facts
  const parts = powerParts(facts)
  const words = PARTS.map(([part, title]) => `${power(parts[part])} ${title}`).join(', ')
  const known = howOf(meter)
  return (
    <Section title={`${power(njPerS(meter.watts))} now`} aside={<Known figure={known} />}>
      <div className="power-bar" role="img" aria-label={words}>
        {PARTS.map(([part]) => (
          <span
            key={part}
            className={part}
            style={{ '--part': String(parts[part]) } as React.CSSProperties}
          />
        ))}
      </div>
      <dl className="power-parts">
        {PARTS.map(([part, title, help]) => (
          <div key={part} className={part}>
            <dt>
              {power(parts[part])} {title}
            </dt>
            <dd>{help}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

/** Of the ledger, so these sums are those of all rows of charges. */
const Charged = () => (
  <Loaded query={useBooks()} what="the charges">
    {({ charged }) => (
      <Section title="Charged to accounts" aside="of the ledger">
        {charged === null ? <p>The sums take too long now.</p> : <Sums charged={charged} />}
      </Section>
    )}
  </Loaded>
)

type SumsProps = { readonly charged: NonNullable<BooksReply['charged']> }

const Sums = ({ charged: { day, all, nobody } }: SumsProps) => (
  <div className="stack">
    <Facts
      facts={[
        ['Today', energyShort(BigInt(day.energy_nj)), `${whole(day.charges)} charges, by UTC`],
        ['In all', energyShort(BigInt(all.energy_nj)), `${whole(all.charges)} charges`],
      ]}
    />
    <Pairs
      pairs={[
        ['In it', 'requests, what runs, what is stored, cards and upstreams, with the overhead'],
        [
          'Outside of it',
          `${energyShort(BigInt(nobody.energy_nj))} of requests without a payer and of connections to databases without a session, in ${whole(nobody.charges)} charges, and what the meter saw beyond all charges`,
        ],
      ]}
    />
  </div>
)

const whole = (text: string): string => grouped(BigInt(text))

function Meter({ facts: { meter, region } }: Props) {
  const { true_up: trueUp } = meter
  return (
    <Section title="Meter">
      <div className="stack">
        <Facts
          facts={[
            ['Tariff', energyShort(njPerS(meter.tariff_j_per_cpu_s)), 'for a second of CPU'],
            ['Busy', Number(meter.busy_cpus).toFixed(2), `of ${meter.cpus} processors`],
            ['Overhead', meter.pue, 'of the building, PUE'],
            ['Region', region, meter.name],
          ]}
        />
        <Pairs
          pairs={[
            ['Method', `${meter.method ?? 'none yet'}: ${meter.reason}`],
            ['Metered since the start', energyShort(BigInt(meter.reading_nj))],
            ['Windows', windowsWords(meter)],
            [
              'By tariff since the start',
              `${energyShort(BigInt(trueUp.accrued_nj))}, of requests, learned work included`,
            ],
            ['Share of the meter', energyShort(BigInt(trueUp.share_nj))],
            ['True-up', `${energyShort(BigInt(trueUp.true_up_nj))}, the operator’s`],
          ]}
        />
      </div>
    </Section>
  )
}

const Disks = ({ facts: { disks } }: Props) => (
  <Section title="Disks">
    {disks.map(({ folder, size_bytes: size, free_bytes: free }) => (
      <Limit
        key={folder}
        name={folder}
        words={`${bytesShort(BigInt(free))} free of ${bytesShort(BigInt(size))}, ${share(BigInt(size - free), BigInt(size))} used`}
        used={BigInt(size - free)}
        most={BigInt(size)}
      />
    ))}
  </Section>
)

const Versions = ({ facts }: Props) => (
  <Section title="Versions and isolation">
    <Pairs
      pairs={[
        ['Ergon', facts.version],
        ['Node.js', facts.node_version],
        ['Isolation of cells', facts.isolation.level],
        ...facts.isolation.reasons.map((reason, nth) => [`Reason ${nth + 1}`, reason] as const),
        ['Seen', <When key="seen" at={facts.at} isExact />],
      ]}
    />
  </Section>
)
