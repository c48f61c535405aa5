// On a phone the joules of the answer stick to the top of the page.
import { energyShort } from '#console/figures/energy.ts'
import { Register } from '#console/parts/register.tsx'
import { AnswerStrip, figureOf } from './meter.tsx'
import type { Turn } from './turn.ts'
import { useHow } from './use-how.ts'

export function NowBar({ turn, isRunning }: { readonly turn: Turn; readonly isRunning: boolean }) {
  const how = useHow(turn)
  return (
    <div className="now-bar" role="group" aria-label="This answer">
      <Register figure={figureOf(turn, how)} size="middle" unit="J" />
      {turn.ceilingNj !== undefined && (
        <p className="small muted">of at most {energyShort(turn.ceilingNj)}</p>
      )}
      <AnswerStrip turn={turn} isRunning={isRunning} />
    </div>
  )
}
