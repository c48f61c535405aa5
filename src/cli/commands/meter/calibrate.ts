// ergon meter calibrate: loads this machine in steps against its best sensor, for about two and a half
// minutes, and keeps the curve.
import { control } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import type { ControlLine } from '#contract/control.ts'

export async function run({ options }: CommandCall): Promise<void> {
  tell('calibrating: the machine is loaded in steps, for about two and a half minutes …')
  const made = await control(options, 'meter.calibrate', {}, show)
  if (options.json) printJson(made)
  else
    print(
      `calibrated by ${made.reference}, band ±${made.band_pct} %; it holds from the next start on`,
    )
}

const show = (step: ControlLine<'meter.calibrate'>): void =>
  tell(
    `  ${step.asked_permille / 10} % asked, ${step.permille / 10} % busy: ${(Number(step.milliwatts) / 1000).toFixed(2)} W`,
  )
