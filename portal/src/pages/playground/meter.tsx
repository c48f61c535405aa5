// The meter of an answer: joules so far, at most, and the settings that bound them.
import type { ChatBody } from '#console/chat/stream.ts'
import type { Figure, How } from '#console/figures/known.ts'
import { useLive } from '#console/live/use-live.ts'
import { Known } from '#console/parts/energy/known.tsx'
import { Register } from '#console/parts/energy/register.tsx'
import { Strip } from '#console/parts/charts/strip.tsx'
import { CodeButtons } from './code-buttons.tsx'
import { Ramp } from './ramp.tsx'
import { Settings } from './settings.tsx'
import { billed, isAwaited, rateOf, type Turn } from './turn.ts'
import { turnFacts } from './turn-facts.ts'
import type { ChatSettings } from './use-chat.ts'
import { useCharge } from './use-charge.ts'

export function Meter(props: {
  readonly turn: Turn | undefined
  /** The request that the code makes. */
  readonly next: ChatBody
  readonly isRunning: boolean
  readonly settings: ChatSettings
  readonly onSettings: (settings: ChatSettings) => void
}) {
  const { turn: unbilled, next, isRunning, settings, onSettings } = props
  const charge = useCharge(unbilled)
  const turn = unbilled && billed(unbilled, charge)
  const how = charge?.how
  return (
    <aside className="plate meter" aria-label="This answer">
      <div className="so-far">
        <p className="small muted">{titleOf(turn)}</p>
        <Register
          figure={figureOf(turn, how)}
          size="middle"
          isOld={turn !== undefined && isAwaited(turn)}
        />
      </div>
      <AnswerStrip turn={turn} isRunning={isRunning} />
      {turn !== undefined && turn.ceilingNj !== undefined && (
        <Ramp turn={turn} ceilingNj={turn.ceilingNj} />
      )}
      {turn !== undefined && <Facts turn={turn} />}
      <p className="small">
        {how !== undefined && (
          <>
            <Known figure={how} />.{' '}
          </>
        )}
        You can never pay more than the ceiling, which falls with the first word.
      </p>
      <Settings settings={settings} onSettings={onSettings} />
      <CodeButtons body={next} />
    </aside>
  )
}

/** The words above the joules. */
export function titleOf(turn: Turn | undefined): string {
  if (turn === undefined) return 'No answer yet'
  if (turn.endedMs === undefined) return 'This answer, so far'
  if (isAwaited(turn)) return 'Stopped: the joules until then, its charge comes'
  return turn.status === 'stopped' ? 'The last answer, stopped' : 'The last answer'
}

/** Nothing is vouched for. */
export const UNKNOWN: How = { known: 'modelled', bandPct: undefined }

/** Empty until the first joules are known. */
export const figureOf = (turn: Turn | undefined, how: How = UNKNOWN): Figure | undefined =>
  turn?.nj === undefined ? undefined : { ...how, nj: turn.nj }

/** Live while an answer runs; then it rests where the answer has moved it. */
export function AnswerStrip(props: {
  readonly turn: Turn | undefined
  readonly isRunning: boolean
}) {
  const { turn, isRunning } = props
  const inference = useLive((state) => state.power?.by['inference'])
  if (turn === undefined) return <Strip njPerS={undefined} isSlim />
  return <Strip njPerS={isRunning ? (rateOf(turn) ?? inference ?? 0n) : 0n} isSlim />
}

function Facts({ turn }: { readonly turn: Turn }) {
  return (
    <dl className="pairs">
      {turnFacts(turn).map(([name, value]) =>
        value === undefined
          ? null
          : [<dt key={`${name}:`}>{name}</dt>, <dd key={name}>{value}</dd>],
      )}
    </dl>
  )
}
