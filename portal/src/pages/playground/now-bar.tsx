// On a phone the joules of the answer stick to the top of the page.
import { energyShort } from '#console/figures/energy.ts'
import { Register } from '#console/parts/energy/register.tsx'
import { AnswerStrip, figureOf, titleOf } from './meter.tsx'
import { billed, isAwaited, type Turn } from './turn.ts'
import { useCharge } from './use-charge.ts'

export function NowBar(props: { readonly turn: Turn; readonly isRunning: boolean }) {
  const { isRunning } = props
  const charge = useCharge(props.turn)
  const turn = billed(props.turn, charge)
  return (
    <div className="now-bar" role="group" aria-label="This answer">
      <Register
        figure={figureOf(turn, charge?.how)}
        size="middle"
        unit="J"
        isOld={isAwaited(turn)}
      />
      {isAwaited(turn) ? (
        <p className="small muted">{titleOf(turn)}</p>
      ) : (
        turn.ceilingNj !== undefined && (
          <p className="small muted">of at most {energyShort(turn.ceilingNj)}</p>
        )
      )}
      <AnswerStrip turn={turn} isRunning={isRunning} />
    </div>
  )
}
