// The accounts: what each has and uses; nothing of its contents.
import type { ReplyOf } from '#console/client/operations.ts'
import { rowsOf } from '#console/client/queries.ts'
import { energyShort } from '#console/figures/energy.ts'
import { balanceExact, balanceShort, moneyShort } from '#console/figures/money.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord, type Tone } from '#console/parts/page/state-word.tsx'
import { When } from '#console/parts/time/when.tsx'
import { SuspendAccount } from './suspend-account.tsx'
import { useAccounts } from './use-operator.ts'

type Account = ReplyOf<'GET /v1/operator/accounts'>['data'][number]
const STATES: Readonly<Record<Account['status'], readonly [Tone, string]>> = {
  active: ['ok', 'Active'],
  suspended: ['bad', 'Suspended'],
  deleting: ['warn', 'Is being deleted'],
  deleted: ['muted', 'Deleted'],
}

export function Accounts() {
  const query = useAccounts()
  return (
    <Section title="Accounts" aside="use of a day, by the audited hour">
      <Loaded query={query} what="the list of accounts">
        {(data) => <Table accounts={rowsOf(data)} />}
      </Loaded>
      {query.hasNextPage && (
        <button type="button" className="btn small" onClick={() => void query.fetchNextPage()}>
          Older accounts
        </button>
      )}
      <div className="recover">
        <p className="small muted">On the machine, a link that lets an owner in again:</p>
        <Command text="ergon admin recover <account>" label="Command" />
      </div>
    </Section>
  )
}

const Table = ({ accounts }: { readonly accounts: readonly Account[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Account</th>
        <th scope="col" className="wide-only">
          State
        </th>
        <th scope="col" className="num">
          Balance
        </th>
        <th scope="col" className="num wide-only">
          Requests
        </th>
        <th scope="col" className="num wide-only">
          Energy
        </th>
        <th scope="col" className="num wide-only">
          Charged
        </th>
        <th scope="col" className="wide-only">
          Made
        </th>
        <th scope="col">
          <span className="spoken">Change it</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {accounts.map((account) => (
        <Row key={account.id} account={account} />
      ))}
    </tbody>
  </table>
)

function Row({ account }: { readonly account: Account }) {
  const { id, name, env, pays_with, balance_pusd, day, created_at } = account
  const balance = BigInt(balance_pusd)
  const unit = env === 'test' ? 'tUSD' : 'USD'
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <b>{name ?? 'No name'}</b>
        <span className="tiny id">{id}</span>
        <span className="under">
          <State account={account} />
        </span>
      </td>
      <td className="wide-only">
        <State account={account} />
      </td>
      <td className="num" title={balanceExact(balance, unit)} data-copy={balance_pusd}>
        {pays_with === 'free_tier' ? 'free joules' : balanceShort(balance, unit)}
      </td>
      <td className="num wide-only">{day.requests.toLocaleString('en')}</td>
      <td className="num wide-only">{energyShort(BigInt(day.energy_nj))}</td>
      <td className="num wide-only">{moneyShort(BigInt(day.charge_pusd), unit)}</td>
      <td className="wide-only">
        <When at={created_at} />
      </td>
      <td>
        <SuspendAccount account={account} />
      </td>
    </tr>
  )
}

function State({ account: { status, suspended_for } }: { readonly account: Account }) {
  const [tone, word] = STATES[status]
  return (
    <>
      <StateWord tone={tone} word={word} />
      {suspended_for !== null && <span className="tiny wrap-anywhere"> {suspended_for}</span>}
    </>
  )
}
