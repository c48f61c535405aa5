// Questions and answers as text, each answer with its cost.
import { Link } from '@tanstack/react-router'
import { carbonShort } from '#console/figures/carbon.ts'
import { energyExact } from '#console/figures/energy.ts'
import { moneyShort } from '#console/figures/money.ts'
import { useLive } from '#console/live/use-live.ts'
import { Known } from '#console/parts/known.tsx'
import { ProblemNote } from '#console/parts/loaded.tsx'
import { Exact } from '#console/parts/register.tsx'
import { SmallSeal } from '#console/parts/seal.tsx'
import { useUnit } from '#console/live/use-unit.ts'
import { UNKNOWN } from './meter.tsx'
import type { Turn } from './turn.ts'
import { useHow } from './use-how.ts'

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
  answering: 'answering',
  done: '',
  stopped: 'stopped',
  failed: 'failed',
}

function Answer({ turn }: { readonly turn: Turn }) {
  const { status, model, text, reason, error } = turn
  const who = [model, STATES[status]].filter((part) => part !== '').join(', ')
  const isRunning = status === 'asking' || status === 'answering'
  return (
    <div className="turn" aria-busy={isRunning}>
      <p className="who" title={reason}>
        {who === '' ? 'Answer' : who}
      </p>
      <p className="words">
        {text}
        {isRunning && <span className="caret" />}
      </p>
      {error !== undefined && <ProblemNote error={error} title="It was not answered" />}
      {!isRunning && turn.nj !== undefined && <Cost turn={turn} nj={turn.nj} />}
      {status === 'stopped' && turn.nj === undefined && turn.receiptId !== undefined && (
        <p className="cost">
          What came is charged: <Link to={`/ledger/${turn.receiptId}`}>receipt</Link>
        </p>
      )}
    </div>
  )
}

function Cost({ turn, nj }: { readonly turn: Turn; readonly nj: bigint }) {
  const how = useHow(turn)
  const unit = useUnit()
  const charge = useLive(({ charges }) => charges.find(({ id }) => id === turn.receiptId))
  return (
    <p className="cost">
      <span className="figure" data-copy={energyExact(nj)}>
        <Exact figure={{ ...(how ?? UNKNOWN), nj }} /> J
      </span>
      {charge !== undefined && (
        <span>
          {charge.charge_pusd === '0' ? 'free' : moneyShort(BigInt(charge.charge_pusd), unit)}
        </span>
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
