// Where no card works: the operator's command that gives this account money.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import { Command } from '#console/parts/page/copy.tsx'

/** Test money is for test accounts alone; a live one is given points. */
export function NoCards({ isTest }: { readonly isTest: boolean }) {
  const session = useQuery(read('GET /v1/session', {}))
  const account = session.data?.account_id ?? '<account>'
  const command = isTest ? `ergon admin funds add ${account} 5` : `ergon admin grant ${account} 5`
  return (
    <div className="stack">
      <div className="note warn">
        <p>
          This Ergon takes no cards.{' '}
          {session.data?.is_operator === true
            ? 'You are its operator: this command on its machine gives the account money, and the page shows it by itself.'
            : 'Its operator can give you money with this command, and the page shows it by itself.'}
        </p>
      </div>
      <Command text={command} label="Command" />
      <p className="small muted">
        In a checkout without the command <code>ergon</code>, type{' '}
        <code className="nowrap">src/cli/ergon.mjs</code> in its place.
      </p>
    </div>
  )
}
