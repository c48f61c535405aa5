// Questions and answers as text, each answer with its cost.
import { Link } from '@tanstack/react-router'
import { carbonShort } from '#console/figures/carbon.ts'
import { energyExact } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { Known } from '#console/parts/energy/known.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Exact } from '#console/parts/energy/register.tsx'
import { SmallSeal } from '#console/parts/ledger/seal.tsx'
import { useUnit } from '#console/live/use-unit.ts'
import { UNKNOWN } from './meter.tsx'
import { billed, isAwaited, isRunning, type Turn, type TurnCharge } from './turn.ts'
import { useCharge } from './use-charge.ts'

export function Talk({ turns }: { readonly turns: readonly Turn[] }) {
  if (turns.length === 0)
    return (
      <p className="lead">
        Ask a model something. Its joules appear beside the answer while it comes, and the same
        figure is on the ledger.
      </p>
    )
  return (
    <ol className="talk">
      {turns.map((turn, nth) => (
        // Turns are only added at the end.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={nth}>
          <div className="turn asked">
            <p className="who">You</p>
            <p>{turn.question}</p>
          </div>
          <Answer turn={turn} />
        </li>
      ))}
    </ol>
  )
}

const STATES: Readonly<Record<Turn['status'], string>> = {
  asking: 'asking',
  loading: 'the model is loading',
  answering: 'answering',
  done: '',
  stopped: 'stopped',
  failed: 'failed',
}

function Answer({ turn: unbilled }: { readonly turn: Turn }) {
  const charge = useCharge(unbilled)
  const turn = billed(unbilled, charge)
  const { status, model, text, reason, error } = turn
  const who = [model, STATES[status]].filter((part) => part !== '').join(', ')
  const isGoing = isRunning(turn)
  return (
    <div className="turn" aria-busy={isGoing}>
      <p className="who" title={reason}>
        {who === '' ? 'Answer' : who}
      </p>
      <p className="words">
        {text}
        {isGoing && <span className="caret" />}
      </p>
      {status === 'loading' && (
        <p className="small" role="status">
          The model is loading, as after each start. It is asked again by itself.
        </p>
      )}
      {error !== undefined && <ProblemNote error={error} title="It was not answered" />}
      {!isGoing && turn.isWhole && turn.nj !== undefined && (
        <Cost turn={turn} nj={turn.nj} charge={charge} />
      )}
      {isAwaited(turn) && (
        <p className="cost" role="status">
          <span>
            Stopped. What came is charged, and its joules are here in a moment:{' '}
            <Link to={`/ledger/${turn.receiptId}`}>receipt</Link>
          </span>
        </p>
      )}
      {status === 'stopped' && turn.receiptId === undefined && (
        <p className="cost">
          <span>
            Stopped before it began. What that cost is on the <Link to="/ledger">ledger</Link>.
          </span>
        </p>
      )}
    </div>
  )
}

function Cost(props: {
  readonly turn: Turn
  readonly nj: bigint
  readonly charge: TurnCharge | undefined
}) {
  const { turn, nj, charge } = props
  const how = charge?.how
  const unit = useUnit()
  return (
    <p className="cost">
      <span className="figure" data-copy={energyExact(nj)}>
        <Exact figure={{ ...(how ?? UNKNOWN), nj }} /> J
      </span>
      {charge !== undefined && (
        <span>{charge.pusd === 0n ? 'free' : moneyShort(charge.pusd, unit)}</span>
      )}
      {turn.pg !== undefined && <span>{carbonShort(turn.pg)}</span>}
      {how !== undefined && <Known figure={how} />}
      {turn.receiptId !== undefined && (
        <Link className="known" to={`/ledger/${turn.receiptId}`}>
          <SmallSeal hash={undefined} /> receipt
        </Link>
      )}
    </p>
  )
}
