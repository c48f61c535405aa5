// Budgets that stop something, the nearest first.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '#console/client/queries.ts'
import { energyShort } from '#console/figures/energy.ts'
import { useLive } from '#console/live/use-live.ts'
import { Limit } from '#console/parts/energy/limit.tsx'
import { Section } from '#console/parts/page/section.tsx'

const SHOWN = 3

export function Budgets() {
  const budgets = useLive((state) => state.budgets)
  const resources = useLive((state) => state.resources)
  const isOfToken = [...budgets.keys()].some((id) => !resources.has(id))
  const tokens = useQuery({ ...read('GET /v1/tokens', {}), enabled: isOfToken })
  const nameOf = (id: string): string =>
    resources.get(id)?.name ?? tokens.data?.data.find((token) => token.id === id)?.name ?? id
  const nearest = [...budgets]
    .map(([id, { budget_nj, used_nj }]) => ({ id, most: BigInt(budget_nj), used: BigInt(used_nj) }))
    .toSorted((one, other) => Number(other.used * one.most > one.used * other.most) * 2 - 1)
    .slice(0, SHOWN)
  return (
    <Section title="Budgets">
      {nearest.length === 0 ? (
        <p className="small">
          Nothing is limited. <Link to="/budgets">Set a budget</Link>, and the work stops there.
        </p>
      ) : (
        <div className="stack">
          {nearest.map(({ id, used, most }) => (
            <Limit
              key={id}
              name={nameOf(id)}
              words={`${energyShort(used)} of ${energyShort(most)} a day`}
              used={used}
              most={most}
            />
          ))}
        </div>
      )}
    </Section>
  )
}
