// The operator's console: circuits of the node, for owners and admins of the first account.
import { Link, useParams } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { read } from '#console/client/queries.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Head } from '#console/shell/head.tsx'
import { Accounts } from './accounts.tsx'
import { Alarms } from './alarms.tsx'
import { Books } from './books.tsx'
import { Cells } from './cells.tsx'
import { Incidents } from './incidents.tsx'
import { Log } from './log.tsx'
import { Models } from './models.tsx'
import { NodeNow } from './node-now.tsx'
import { Probes } from './probes.tsx'
import './operator.css'

type Circuit = { readonly name: string; readonly title: string; readonly Part: ComponentType }
const CIRCUITS: readonly Circuit[] = [
  { name: 'node', title: 'Node', Part: NodeNow },
  { name: 'cells', title: 'Cells', Part: Cells },
  { name: 'models', title: 'Models', Part: Models },
  { name: 'probes', title: 'Probes', Part: Probes },
  { name: 'accounts', title: 'Accounts', Part: Accounts },
  { name: 'alarms', title: 'Alarms', Part: Alarms },
  { name: 'books', title: 'Books', Part: Books },
  { name: 'log', title: 'Log', Part: Log },
  { name: 'incidents', title: 'Incidents', Part: Incidents },
]
const FIRST = CIRCUITS[0] as Circuit

export function Page() {
  const { circuit } = useParams({ strict: false }) as { readonly circuit?: string }
  const session = useQuery(read('GET /v1/session', {}))
  const shown = circuit === undefined ? FIRST : CIRCUITS.find(({ name }) => name === circuit)
  return (
    <Loaded query={session} what="the session">
      {({ is_operator: isOperator }) =>
        !isOperator ? (
          <NotOperator />
        ) : shown === undefined ? (
          <>
            <Head title="No such circuit" />
            <Circuits />
          </>
        ) : (
          <>
            <Head title={shown === FIRST ? 'Operator' : shown.title} crumb={<Crumb of={shown} />} />
            <Circuits />
            <shown.Part />
          </>
        )
      }
    </Loaded>
  )
}

const Crumb = ({ of }: { readonly of: Circuit }) => (
  <>
    {of === FIRST ? 'Operator' : <Link to="/operator">Operator</Link>} / {of.title}
  </>
)

const addressOf = (circuit: Circuit): string =>
  circuit === FIRST ? '/operator' : `/operator/${circuit.name}`

const Circuits = () => (
  <nav className="circuits" aria-label="Operator">
    {CIRCUITS.map((circuit) => (
      <Link
        key={circuit.name}
        className="btn small"
        to={addressOf(circuit)}
        activeOptions={{ exact: true }}
      >
        {circuit.title}
      </Link>
    ))}
  </nav>
)

const NotOperator = () => (
  <>
    <Head title="Operator" />
    <div className="note bad">
      <p>
        <b>You may not see this. </b>
        The node is shown to owners and admins of the operator’s account, which is its first. One of
        them can invite you there.
      </p>
    </div>
  </>
)
