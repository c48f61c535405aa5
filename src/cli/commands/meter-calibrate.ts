// ergon meter calibrate: loads this machine in steps against its best sensor, for about two and a half
// minutes, and keeps the curve.
import { control } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type Step = { asked_permille: number; permille: number; milliwatts: string }
type Calibration = { reference: string; band_pct: number }

export async function run({ options }: CommandCall): Promise<void> {
  tell('calibrating: the machine is loaded in steps, for about two and a half minutes …')
  const call = { method: 'POST', path: '/meter/calibrate' } as const
  const made = (await control(options, call, (line) => show(line as Step))) as Calibration
  if (options.json) printJson(made)
  else
    print(
      `calibrated by ${made.reference}, band ±${made.band_pct} %; it holds from the next start on`,
    )
}

const show = (step: Step): void =>
  tell(
    `  ${step.asked_permille / 10} % asked, ${step.permille / 10} % busy: ${(Number(step.milliwatts) / 1000).toFixed(2)} W`,
  )
