// Budgets: what stops when, how near. The list is the API's; the live stream moves its figures.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { readPages, rowsOf } from '#console/client/queries.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { energyShort } from '#console/figures/energy.ts'
import { left } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { budgetState } from '#console/parts/resources/budget-state.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Limit } from '#console/parts/energy/limit.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { resourcePage } from '#console/parts/resources/resource-page.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { Head } from '#console/shell/head.tsx'
import { SetBudget } from './set-budget.tsx'
import './budgets.css'

type Budget = ReplyOf<'GET /v1/budgets'>['data'][number]

export function Page() {
  const query = useInfiniteQuery(readPages('GET /v1/budgets', {}))
  const budgets = rowsOf(query.data)
  const [isSetting, setSetting] = useState(false)
  const now = useNow('minute')
  const renewedAt = budgets[0]?.renewed_at
  const set = (
    <button type="button" className="btn primary" onClick={() => setSetting(true)}>
      Set a budget
    </button>
  )
  return (
    <>
      <Head title="Budgets">{budgets.length > 0 && set}</Head>
      {isSetting && <SetBudget onClose={() => setSetting(false)} />}
      <Loaded query={query} what="the list of budgets">
        {() =>
          budgets.length === 0 ? (
            <Empty
              title="Nothing is limited"
              command='ergon tokens create my-laptop --energy-budget "5 kJ/day"'
              action={set}
            >
              A budget is the most energy that a token, a database, a function or a workload may use
              on a day of UTC. At its end it stops; nothing is charged above it.
            </Empty>
          ) : (
            <div className="stack">
              {renewedAt !== undefined && (
                <p className="small">
                  All of them begin anew at 00:00 UTC, in{' '}
                  {left(Math.max(0, new Date(renewedAt).getTime() - now.getTime()))}.
                </p>
              )}
              <ul className="budgets">
                {budgets.toSorted(nearestFirst).map((budget) => (
                  <BudgetRow key={budget.id} budget={budget} />
                ))}
              </ul>
            </div>
          )
        }
      </Loaded>
      <MoreRows query={query} label="More budgets" />
    </>
  )
}

const nearestFirst = (one: Budget, other: Budget): number =>
  Number(
    BigInt(other.used_nj) * BigInt(one.budget_nj) > BigInt(one.used_nj) * BigInt(other.budget_nj),
  ) *
    2 -
  1

function BudgetRow({ budget }: { readonly budget: Budget }) {
  const live = useLive(({ budgets }) => budgets.get(budget.id))
  const resource = useLive(({ resources }) => resources.get(budget.id))
  const used = BigInt(live?.used_nj ?? budget.used_nj)
  const most = BigInt(live?.budget_nj ?? budget.budget_nj)
  const { kind, name } = budget
  const isSuspended = resource?.status === 'suspended'
  return (
    <li data-row>
      <Limit
        name={
          <>
            <Link to={resourcePage(budget) ?? '/tokens'}>
              <b>{name}</b>
            </Link>{' '}
            <span className="muted">{kind}</span>
          </>
        }
        words={`${energyShort(used)} of ${energyShort(most)} a day`}
        used={used}
        most={most}
      />
      <StateWord {...budgetState(budget, { used, most, isSuspended })} />
    </li>
  )
}
