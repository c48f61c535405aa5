// The newest charges, each a link to its receipt.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../../client/queries.ts'
import { energyShort } from '../../figures/energy.ts'
import { useLive } from '../../live/use-live.ts'
import { Command } from '../../parts/copy.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { SmallSeal } from '../../parts/seal.tsx'
import { Section } from '../../parts/section.tsx'
import { operationName } from '../../parts/services.ts'

const SHOWN = 7

export function Feed() {
  const known = useQuery(read('GET /v1/receipts', { query: { limit: String(SHOWN) } }))
  const live = useLive(({ charges }) => charges)
  return (
    <Section title="What requests cost" aside={<Link to="/ledger">all</Link>}>
      <Loaded query={known} what="the ledger">
        {({ data }) => {
          const ids = new Set(live.map(({ id }) => id))
          const rows = [...live, ...data.filter(({ id }) => !ids.has(id))].slice(0, SHOWN)
          return rows.length === 0 ? (
            <FirstRequest />
          ) : (
            <ul className="feed">
              {rows.map(({ id, operation, model, energy_nj }) => (
                <li key={id} data-row>
                  <Link to={`/ledger/${id}`}>
                    <SmallSeal hash={undefined} />
                    <span>
                      {operationName(operation)} <span className="muted">{model}</span>
                    </span>
                    <b>{energyShort(BigInt(energy_nj))}</b>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Section>
  )
}

const FirstRequest = () => (
  <div className="empty">
    <p className="small">Nothing was charged yet. Ask a model something:</p>
    <Command text='npx ergon chat "What is the capital of France?"' label="Command" />
  </div>
)
