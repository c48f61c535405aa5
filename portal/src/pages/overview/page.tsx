// Overview: joules today, watts now, and what is left.
import { Head } from '#console/shell/head.tsx'
import { Balance } from './balance.tsx'
import { Budgets } from './budgets.tsx'
import { Feed } from './feed.tsx'
import { Hero } from './hero.tsx'
import { Next } from './next.tsx'
import { Watts } from './watts.tsx'
import './overview.css'

export const Page = () => (
  <>
    <Head title="Overview" />
    <Hero />
    <div className="overview-columns">
      <Watts />
      <Feed />
    </div>
    <div className="overview-thirds">
      <Balance />
      <Budgets />
      <Next />
    </div>
  </>
)
